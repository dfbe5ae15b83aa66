import { selectorOf } from "./ordinals.ts";
import { check, type Meaning, one, type Phrase, phrase, placeCalled } from "./phrase.ts";
import type { Draft, Parts, Vocabulary } from "./types.ts";

/** How long "wait for" waits when it does not say. */
const waitMs = 30_000;
const longestWaitMs = 600_000;

const verb =
  "(?:check|verify|ensure|assert|confirm|make sure|expect|vérifie[rz]?|prüfe|überprüfe)(?: that| if| whether| que|,? dass)?,? ";
const maybeVerb = `(?:${verb})?`;
const is = "(?:is|are|be|becomes|(?:should|must|can)(?<should> not)? be|to be|est|sont)";
const not = "(?<not> not| no longer| pas)?";
const shown =
  "(?:visible|shown|displayed|present|open|there|seen|on (?:the )?(?:screen|page)|affichée?|angezeigt|sichtbar)";
const has = "(?:contains?|has|have|shows?|holds?|equals?|(?:should|must) (?:contain|have|show|hold|equal))";
const seen = "(?:(?:should|must|can|do|does|will)(?<not> not)? (?:see|find)|sees?)";
const wait = "(?:wait (?:for|until|till)|attend(?:s|re|ez)(?: que)?|warte(?: auf)?) ";
const time =
  "(?: (?:for )?(?:up to |at most )?(?<time>\\d+) ?(?<unit>ms|milliseconds?|s|sec|seconds?|min|minutes?))";

const isNot = (part: Parts) => ({ negate: part("not") !== "" || part("should") !== "" });

/** What is said of a state, as the check and whether its contrary is meant. */
const states: Readonly<Record<string, { check: string; negate?: true }>> = {
  enabled: { check: "element_enabled" },
  disabled: { check: "element_enabled", negate: true },
  checked: { check: "element_checked" },
  ticked: { check: "element_checked" },
  selected: { check: "element_checked" },
  unchecked: { check: "element_checked", negate: true },
  unticked: { check: "element_checked", negate: true },
  focused: { check: "element_focused" },
  hidden: { check: "element_hidden" },
  invisible: { check: "element_hidden" },
  gone: { check: "element_hidden" },
};

function inState(part: Parts, vocabulary: Vocabulary, more: { timeout_ms?: number } = {}): Meaning {
  const { check: name, negate } = states[part("state").toLowerCase()] ?? { check: "element_visible" };
  const isNegated = isNot(part).negate !== (negate === true);
  return check(vocabulary, name, { selector: selectorOf(part) }, { negate: isNegated, ...more });
}

const numbers: Readonly<Record<string, number>> = { no: 0, one: 1, two: 2, three: 3, four: 4, five: 5 };
const numberWord = `(?<count>\\d{1,6}|${Object.keys(numbers).join("|")})`;

function counted(part: Parts, vocabulary: Vocabulary): Meaning {
  const said = part("count").toLowerCase();
  return check(vocabulary, "element_count", { selector: part("name"), count: numbers[said] ?? Number(said) });
}

/** What is looked at. */
export const checkPhrases: readonly Phrase[] = [
  phrase(
    'wait for text "T"',
    `${wait}(?:the )?text {text}(?: (?:to )?${is} ${shown})?${time}?`,
    (part, vocabulary) =>
      check(vocabulary, "text_visible", { text: part("text") }, { timeout_ms: millisecondsOf(part) }),
  ),
  phrase(
    'wait until "X" is hidden',
    `${wait}{name}(?: to)? (?:${is}${not} (?<state>${Object.keys(states).join("|")})|disappears?|vanish(?:es)?|goes? away)${time}?`,
    (part, vocabulary) =>
      part("state") === ""
        ? check(
            vocabulary,
            "element_hidden",
            { selector: selectorOf(part) },
            { timeout_ms: millisecondsOf(part) },
          )
        : inState(part, vocabulary, { timeout_ms: millisecondsOf(part) }),
  ),
  phrase(
    'wait for "X"',
    `${wait}{name}(?: (?:to )?(?:${is} ${shown}|appears?))?${time}?`,
    (part, vocabulary) =>
      check(
        vocabulary,
        "element_visible",
        { selector: selectorOf(part) },
        { timeout_ms: millisecondsOf(part) },
      ),
  ),
  phrase(
    'check text "T" is shown',
    `${maybeVerb}(?:the |le |der )?text(?:e)? {text} ${is}${not} ${shown}`,
    (part, vocabulary) => check(vocabulary, "text_visible", { text: part("text") }, isNot(part)),
  ),
  phrase('check text "T"', `${verb}(?:the |le |der )?text(?:e)? {text}`, (part, vocabulary) =>
    check(vocabulary, "text_visible", { text: part("text") }),
  ),
  phrase(
    'should see "T"',
    `${maybeVerb}(?:i |we |you |the user )?${seen} (?:the )?(?:text |message )?{text}`,
    (part, vocabulary) => check(vocabulary, "text_visible", { text: part("text") }, isNot(part)),
  ),
  phrase(
    'check the title is "T"',
    `${verb}(?:the )?(?:page )?title (?:${is}|equals) {title}`,
    (part, vocabulary) => check(vocabulary, "title_matches", { title: part("title") }),
  ),
  phrase(
    'check the url is "U"',
    `${verb}(?:the )?(?:page )?(?:url|address) (?:${has}|${is}) {url}`,
    (part, vocabulary) => check(vocabulary, "url_matches", { url: part("url") }),
  ),
  phrase(
    'check the number of "X" is 3',
    `${maybeVerb}(?:the )?(?:count|number) of {name} (?:${is}|equals) ${numberWord}`,
    counted,
  ),
  phrase(
    'check there are 3 "X"',
    `${maybeVerb}(?:there (?:is|are|should be|must be) )?(?:exactly )?${numberWord} {name}(?: ${is} ${shown})?`,
    counted,
  ),
  phrase('check "X" has text "T"', `${maybeVerb}{name} ${has}(?: the)? text {text}`, (part, vocabulary) =>
    check(vocabulary, "element_text", { selector: selectorOf(part), text: part("text") }),
  ),
  phrase(
    'check "X" has value "V"',
    `${maybeVerb}{name} (?:${has}(?: the)?(?: value)?|value ${is}) {value}`,
    (part, vocabulary) =>
      check(vocabulary, "element_value", { selector: selectorOf(part), value: part("value") }),
  ),
  phrase('check "X" is empty', `${maybeVerb}{name} ${is}${not} (?:empty|blank)`, (part, vocabulary) =>
    check(vocabulary, "element_value", { selector: selectorOf(part), value: "" }, isNot(part)),
  ),
  phrase(
    'check "X" is disabled',
    `${maybeVerb}{name} ${is}${not} (?<state>${Object.keys(states).join("|")})`,
    inState,
  ),
  phrase("check NODE is shown", `${maybeVerb}(?:the |le |la )?{place:any} ${is}${not} ${shown}`, placeShown),
  phrase('check "X" is shown', `${maybeVerb}{name} ${is}${not} ${shown}`, (part, vocabulary) =>
    check(vocabulary, "element_visible", { selector: selectorOf(part) }, isNot(part)),
  ),
  phrase(
    "check we are on NODE",
    `${verb}(?:that )?(?:(?:we|you|i)(?: are|'re| am|'m) )?on {place:any}`,
    placeShown,
  ),
];

/** What proves a place is checked; going there would prove nothing. */
function placeShown(part: Parts, vocabulary: Vocabulary): Meaning {
  const place = placeCalled(part("place"), vocabulary);
  if ("reason" in place) return place;
  const { label, verifications, pass_condition } = place;
  const { negate } = isNot(part);
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
export const pausePhrase = phrase(
  "wait 3 seconds",
  `(?:wait|pause|sleep|attend(?:s|re|ez)|warte)${time}`,
  (part) => one({ type: "sleep", duration_ms: millisecondsOf(part) }),
);
