import { check, checking, isNot, type Meaning, type Phrase, phrase } from "./phrase.ts";
import type { Parts } from "./types.ts";
import { contains, exactly, has, is, may, maybeVerb, not, verb } from "./wordParts.ts";

const page = "(?:the |this )?(?:page|screen|app)";
const title = "(?:the )?(?:page(?:'s)? )?title(?: of the page)?";
const url = "(?:the )?(?:page(?:'s)? |current )?(?:url|address)(?: of the page)?";
const seen = "(?:(?:should|must|can|do|does|will)(?<not> not)? (?:see|find)|sees?)";

const kindOfMessage = "(?:(?:error|success|warning|info|validation|confirmation) )?";
const messageNoun = `(?:${kindOfMessage}message|error|warning|heading)`;

const partly = { match: "contains" };

export const pagePhrases: readonly Phrase[] = [
  phrase(
    'check text "T" is shown',
    `${maybeVerb}(?:the |le |der |an? )?(?:text(?:e)?|${messageNoun}) {text} (?:${is}${not} (?:visible|shown|displayed|present|there|seen|on (?:the )?(?:screen|page)|affichée?|angezeigt|sichtbar)|appears?)`,
    checking("text_visible", ["text"]),
  ),
  phrase('check text "T"', `${verb}(?:the |le |der )?text(?:e)? {text}`, checking("text_visible", ["text"])),
  phrase(
    'check the page has text "T"',
    `${maybeVerb}${page} ${may}(?:${has}|${contains})(?: the)?(?: text| message)? {text}`,
    checking("text_visible", ["text"]),
  ),
  phrase(
    'check text contains "T"',
    `${maybeVerb}(?:the |le |der )?text(?:e)? ${may}${contains} {text}`,
    checking("text_visible", ["text"], partly),
  ),
  phrase(
    'should see "T"',
    `${maybeVerb}(?:i |we |you |the user )?${seen} (?:the |an? )?(?:text |${messageNoun} )?{text}(?: on (?:the |this )?(?:page|screen))?`,
    checking("text_visible", ["text"]),
  ),
  phrase(
    'check the title is "T"',
    `${maybeVerb}${title} (?:${is}${not}|${may}equals?)${exactly} {title}`,
    checking("title_matches", ["title"]),
  ),
  phrase(
    'check the title contains "T"',
    `${maybeVerb}${title} ${may}(?:${contains}|${has}) {title}`,
    checking("title_matches", ["title"], partly),
  ),
  phrase('check the url has "U"', `${maybeVerb}${url} ${may}${has} {url}`, checking("url_matches", ["url"])),
  phrase(
    'check the url contains "U"',
    `${maybeVerb}${url} ${may}${contains} {url}`,
    checking("url_matches", ["url"], partly),
  ),
  phrase(
    'check the url is "URL"',
    `${maybeVerb}${url} (?:${is}${not}|${may}equals?)${exactly} {url}`,
    wholeAddress,
  ),
  phrase(
    'check a dialog with text "T" was shown',
    `${maybeVerb}(?:an? |the )?(?:dialog|alert|prompt)(?: (?:with|saying|that says))?(?: the)?(?: text| message)? {text} (?:was|is)${not} (?:shown|seen|open(?:ed)?)`,
    checking("dialog_seen", ["text"]),
  ),
  phrase(
    'check "FILE" was downloaded',
    `${maybeVerb}(?:the )?(?:file )?{file} (?:is|was|has been)${not} downloaded`,
    (part) => check("download_received", { name: part("file") }, isNot(part)),
  ),
  phrase(
    'check the cell "COLUMN" of row "ROW" in "X" is "T"',
    `${maybeVerb}(?:the )?cell {column} (?:of|in)(?: the)? row {row} (?:of|in)(?: the)?(?: table)? {name} (?:${is}${not}|${may}(?:${has}|equals?)) {text}`,
    checking("table_cell", ["selector", "row", "column", "text"]),
  ),
];

/** A part of an address is refused: it would also hold on another page. */
function wholeAddress(part: Parts): Meaning {
  const said = part("url");
  if (/^[a-z][\w+.-]*:|^\{\{/i.test(said))
    return check("url_matches", { url: said, match: "exact" }, isNot(part));
  return {
    reason: "an address is given whole, with https://; a part of it is what it has",
    nearest: [`check the url ${isNot(part) ? "does not contain" : "has"} "${said}"`],
  };
}
