import { selectorOf } from "./ordinals.ts";
import { check, type Meaning, type Phrase, phrase } from "./phrase.ts";
import type { Parts, Vocabulary } from "./types.ts";
import { contains, exactly, has, is, isNot, may, maybeVerb, not, seen, verb } from "./wordParts.ts";

const page = "(?:the |this )?(?:page|screen|app)";
const title = "(?:the )?(?:page(?:'s)? )?title(?: of the page)?";
const url = "(?:the )?(?:page(?:'s)? |current )?(?:url|address)(?: of the page)?";

/** Part of a text, where the words say so. */
const partly = { match: "contains" } as const;

/** What is said of the page: its texts, title, address, dialogs and downloads. */
export const pagePhrases: readonly Phrase[] = [
  phrase(
    'check text "T" is shown',
    `${maybeVerb}(?:the |le |der )?text(?:e)? {text} (?:${is}${not} (?:visible|shown|displayed|present|there|seen|on (?:the )?(?:screen|page)|affichée?|angezeigt|sichtbar)|appears?)`,
    (part, vocabulary) => check(vocabulary, "text_visible", { text: part("text") }, isNot(part)),
  ),
  phrase('check text "T"', `${verb}(?:the |le |der )?text(?:e)? {text}`, (part, vocabulary) =>
    check(vocabulary, "text_visible", { text: part("text") }),
  ),
  phrase(
    'check the page has text "T"',
    `${maybeVerb}${page} ${may}(?:${has}|${contains})(?: the)?(?: text| message)? {text}`,
    (part, vocabulary) => check(vocabulary, "text_visible", { text: part("text") }, isNot(part)),
  ),
  phrase(
    'check text contains "T"',
    `${maybeVerb}(?:the |le |der )?text(?:e)? ${may}${contains} {text}`,
    (part, vocabulary) => check(vocabulary, "text_visible", { text: part("text"), ...partly }, isNot(part)),
  ),
  phrase(
    'should see "T"',
    `${maybeVerb}(?:i |we |you |the user )?${seen} (?:the )?(?:text |message )?{text}`,
    (part, vocabulary) => check(vocabulary, "text_visible", { text: part("text") }, isNot(part)),
  ),
  phrase(
    'check the title is "T"',
    `${maybeVerb}${title} (?:${is}${not}|${may}equals?)${exactly} {title}`,
    (part, vocabulary) =>
      check(
        vocabulary,
        "title_matches",
        { title: part("title"), ...(part("exactly") !== "" && { match: "exact" }) },
        isNot(part),
      ),
  ),
  phrase(
    'check the title contains "T"',
    `${maybeVerb}${title} ${may}(?:${contains}|${has}) {title}`,
    (part, vocabulary) =>
      check(vocabulary, "title_matches", { title: part("title"), ...partly }, isNot(part)),
  ),
  phrase('check the url has "U"', `${maybeVerb}${url} ${may}${has} {url}`, (part, vocabulary) =>
    check(vocabulary, "url_matches", { url: part("url") }, isNot(part)),
  ),
  phrase('check the url contains "U"', `${maybeVerb}${url} ${may}${contains} {url}`, (part, vocabulary) =>
    check(vocabulary, "url_matches", { url: part("url"), ...partly }, isNot(part)),
  ),
  phrase(
    'check the url is "URL"',
    `${maybeVerb}${url} (?:${is}${not}|${may}equals?)${exactly} {url}`,
    wholeAddress,
  ),
  phrase(
    'check a dialog with text "T" was shown',
    `${maybeVerb}(?:an? |the )?(?:dialog|alert|prompt)(?: (?:with|saying|that says))?(?: the)?(?: text| message)? {text} (?:was|is)${not} (?:shown|seen|open(?:ed)?)`,
    (part, vocabulary) => check(vocabulary, "dialog_seen", { text: part("text") }, isNot(part)),
  ),
  phrase(
    'check "FILE" was downloaded',
    `${maybeVerb}(?:the )?(?:file )?{file} (?:is|was|has been)${not} downloaded`,
    (part, vocabulary) => check(vocabulary, "download_received", { name: part("file") }, isNot(part)),
  ),
  phrase(
    'check the cell "COLUMN" of row "ROW" in "X" is "T"',
    `${maybeVerb}(?:the )?cell {column} (?:of|in)(?: the)? row {row} (?:of|in)(?: the)?(?: table)? {name} (?:${is}${not}|${may}(?:${has}|equals?)) {text}`,
    (part, vocabulary) =>
      check(
        vocabulary,
        "table_cell",
        { selector: selectorOf(part), row: part("row"), column: part("column"), text: part("text") },
        isNot(part),
      ),
  ),
];

/** A part of an address is not what it is: it would also hold on another page. */
function wholeAddress(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("url");
  if (/^[a-z][\w+.-]*:|^\{\{/i.test(said))
    return check(vocabulary, "url_matches", { url: said, match: "exact" }, isNot(part));
  return {
    reason: "an address is given whole, with https://; a part of it is what it has",
    nearest: [`check the url ${isNot(part).negate ? "does not contain" : "has"} "${said}"`],
  };
}
