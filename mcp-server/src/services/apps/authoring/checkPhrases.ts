import { type StateWord, stateSynonyms, stateWords } from "@labwright/controllers";
import { contentPhrases } from "./contentPhrases.ts";
import { selectorOf } from "./ordinals.ts";
import { pagePhrases } from "./pagePhrases.ts";
import { check, type Meaning, one, type Phrase, phrase, placeCalled } from "./phrase.ts";
import type { Draft, Parts, Vocabulary } from "./types.ts";
import { is, isNot, may, maybeVerb, millisecondsOf, not, shown, time, verb, wait } from "./wordParts.ts";

type StateCheck = { check: string; state?: StateWord; negate?: true };

/** States that have a check of their own, which also finds what is not there. */
const ownChecks: Readonly<Record<string, StateCheck>> = {
  enabled: { check: "element_enabled" },
  disabled: { check: "element_enabled", negate: true },
  checked: { check: "element_checked" },
  focused: { check: "element_focused" },
  hidden: { check: "element_hidden" },
  invisible: { check: "element_hidden" },
  gone: { check: "element_hidden" },
};

const words = [...Object.keys(ownChecks), ...Object.keys(stateSynonyms), ...stateWords];
const state = `(?<state>${[...new Set(words)].join("|")})`;

/** What a word says of a state, as the check that reads it. */
function stateCheck(said: string): StateCheck {
  const word = stateSynonyms[said] ?? stateWords.find((one) => one === said);
  return ownChecks[word ?? said] ?? { check: "element_state", ...(word && { state: word }) };
}

function inState(part: Parts, vocabulary: Vocabulary, more: { timeout_ms?: number } = {}): Meaning {
  const { check: name, state, negate } = stateCheck(part("state").toLowerCase());
  const isNegated = isNot(part).negate !== (negate === true);
  const params = { selector: selectorOf(part), ...(state && { state }) };
  return check(vocabulary, name, params, { negate: isNegated, ...more });
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
    `${wait}{name}(?: to)? (?:${is}${not} ${state}|disappears?|vanish(?:es)?|go(?:es)? away)${time}?`,
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
  ...pagePhrases,
  ...contentPhrases,
  phrase('check "X" is empty', `${maybeVerb}{name} ${is}${not} (?:empty|blank)`, (part, vocabulary) =>
    check(vocabulary, "element_value", { selector: selectorOf(part), value: "" }, isNot(part)),
  ),
  phrase('check "X" is disabled', `${maybeVerb}{name} ${is}${not} ${state}`, inState),
  phrase(
    "check NODE is shown",
    `${maybeVerb}(?:the |le |la )?{place:any} ${is}${not} (?:${shown}|open)`,
    placeShown,
  ),
  phrase('check "X" is shown', `${maybeVerb}{name} ${is}${not} ${shown}`, (part, vocabulary) =>
    check(vocabulary, "element_visible", { selector: selectorOf(part) }, isNot(part)),
  ),
  phrase('check "X" and "Y" are shown', `${maybeVerb}{name} and {target} ${is}${not} ${shown}`, bothShown),
  phrase('check "X" is shown', `${maybeVerb}{name} ${may}appears?`, (part, vocabulary) =>
    check(vocabulary, "element_visible", { selector: selectorOf(part) }, isNot(part)),
  ),
  phrase('check "X" exists', `${maybeVerb}{name} ${may}exists?`, (part, vocabulary) =>
    check(vocabulary, "element_exists", { selector: selectorOf(part) }, isNot(part)),
  ),
  phrase(
    "check we are on NODE",
    `${verb}(?:that )?(?:(?:we|you|i)(?: are|'re| am|'m) )?on {place:any}`,
    placeShown,
  ),
];

function bothShown(part: Parts, vocabulary: Vocabulary): Meaning {
  const drafts: Draft[] = [];
  for (const name of ["name", "target"]) {
    const meaning = check(vocabulary, "element_visible", { selector: selectorOf(part, name) }, isNot(part));
    if ("reason" in meaning) return meaning;
    drafts.push(...meaning.drafts);
  }
  return { drafts };
}

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

/** A pause that somebody asked for. */
export const pausePhrase = phrase(
  "wait 3 seconds",
  `(?:wait|pause|sleep|attend(?:s|re|ez)|warte)${time}`,
  (part) => one({ type: "sleep", duration_ms: millisecondsOf(part) }),
);
