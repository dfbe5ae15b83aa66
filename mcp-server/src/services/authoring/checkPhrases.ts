import { check, type Meaning, one, type Parts, type Phrase, phrase, placeCalled } from "./phrase.ts";
import type { Draft, Vocabulary } from "./types.ts";

/** How long "wait for" waits when it does not say. */
const waitMs = 30_000;
const longestWaitMs = 600_000;

const verb =
  "(?:check|verify|ensure|assert|confirm|make sure|expect|vérifie[rz]?|prüfe|überprüfe)(?: that| if| whether| que|,? dass)?,? ";
const maybeVerb = `(?:${verb})?`;
const is = "(?:is|are|be|becomes|should be|est|sont)";
const not = "(?<not> not| no longer| pas)?";
const shown = "(?:visible|shown|displayed|present|open|affichée?|angezeigt|sichtbar)";
const wait = "(?:wait (?:for|until)|attend(?:s|re|ez)(?: que)?|warte(?: auf)?) ";
const time =
  "(?: (?:for )?(?:up to |at most )?(?<time>\\d+) ?(?<unit>ms|milliseconds?|s|sec|seconds?|min|minutes?))";

const isNot = (part: Parts) => ({ negate: part("not") !== "" });

/** What is looked at. */
export const checkPhrases: readonly Phrase[] = [
  phrase(`${wait}(?:the )?text {text}(?: (?:to )?${is} ${shown})?${time}?`, (part, vocabulary) =>
    check(vocabulary, "text_visible", { text: part("text") }, { timeout_ms: millisecondsOf(part) }),
  ),
  phrase(`${wait}{name}(?: (?:to )?${is} ${shown})?${time}?`, (part, vocabulary) =>
    check(vocabulary, "element_visible", { selector: part("name") }, { timeout_ms: millisecondsOf(part) }),
  ),
  phrase(`${maybeVerb}(?:the |le |der )?text(?:e)? {text} ${is}${not} ${shown}`, (part, vocabulary) =>
    check(vocabulary, "text_visible", { text: part("text") }, isNot(part)),
  ),
  phrase(`${verb}(?:the |le |der )?text(?:e)? {text}`, (part, vocabulary) =>
    check(vocabulary, "text_visible", { text: part("text") }),
  ),
  phrase(`${verb}(?:the )?(?:page )?title ${is} {title}`, (part, vocabulary) =>
    check(vocabulary, "title_matches", { title: part("title") }),
  ),
  phrase(`${verb}(?:the )?(?:url|address) (?:contains|${is}) {url}`, (part, vocabulary) =>
    check(vocabulary, "url_matches", { url: part("url") }),
  ),
  phrase(
    `${verb}{name} (?:contains|has|shows|holds|equals)(?: the)?(?: value)? {value}`,
    (part, vocabulary) =>
      check(vocabulary, "element_value", { selector: part("name"), value: part("value") }),
  ),
  phrase(`${maybeVerb}{name} ${is}${not} (?<state>enabled|checked|focused|hidden)`, (part, vocabulary) =>
    check(vocabulary, `element_${part("state").toLowerCase()}`, { selector: part("name") }, isNot(part)),
  ),
  phrase(`${maybeVerb}(?:the |le |la )?{place:any} ${is}${not} ${shown}`, placeShown),
  phrase(`${maybeVerb}{name} ${is}${not} ${shown}`, (part, vocabulary) =>
    check(vocabulary, "element_visible", { selector: part("name") }, isNot(part)),
  ),
  phrase(`${verb}(?:that )?(?:we|you|i)(?: are|'re| am|'m) on {place:any}`, placeShown),
];

/** What proves a place is checked; going there would prove nothing. */
function placeShown(part: Parts, vocabulary: Vocabulary): Meaning {
  const place = placeCalled(part("place"), vocabulary);
  if ("reason" in place) return place;
  const { label, verifications, pass_condition } = place;
  const negate = part("not") !== "";
  if (verifications.length === 0) return { reason: `the node "${label}" has no verification to know it by` };
  if (negate && verifications.length > 1)
    return { reason: `the node "${label}" has several verifications; say what is not shown` };
  const drafts = verifications.map(
    ({ command, params, type, negate: own, timeout_ms }): Draft => ({
      type: "verification",
      command,
      params,
      ...(type && { verification_type: type }),
      ...(own !== negate && (own || negate) && { negate: true }),
      ...(timeout_ms !== undefined && { timeout_ms }),
    }),
  );
  return { drafts, any: pass_condition === "any" };
}

function millisecondsOf(part: Parts): number {
  const unit = part("unit").toLowerCase();
  const factor =
    unit.startsWith("ms") || unit.startsWith("milli") ? 1 : unit.startsWith("m") ? 60_000 : 1_000;
  return part("time") === "" ? waitMs : Math.min(Number(part("time")) * factor, longestWaitMs);
}

/** A pause that somebody asked for. */
export const pausePhrase = phrase(`(?:wait|pause|sleep|attend(?:s|re|ez)|warte)${time}`, (part) =>
  one({ type: "sleep", duration_ms: millisecondsOf(part) }),
);
