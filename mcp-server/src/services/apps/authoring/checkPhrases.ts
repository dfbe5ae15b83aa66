import { type StateWord, stateSynonyms, stateWords } from "@labwright/controllers";
import { contentPhrases } from "./contentPhrases.ts";
import { pagePhrases } from "./pagePhrases.ts";
import {
  check,
  checking,
  isNot,
  type Meaning,
  one,
  type Phrase,
  phrase,
  placeCalled,
  selectorOf,
} from "./phrase.ts";
import type { Draft, Parts, Vocabulary } from "./types.ts";
import { is, may, maybeVerb, millisecondsOf, not, shown, time, verb, wait } from "./wordParts.ts";

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

function stateCheck(said: string): StateCheck {
  const word = stateSynonyms[said] ?? stateWords.find((one) => one === said);
  return ownChecks[word ?? said] ?? { check: "element_state", ...(word && { state: word }) };
}

const inState =
  ({ timed = false } = {}) =>
  (part: Parts): Meaning => {
    const { check: name, state, negate = false } = stateCheck(part("state").toLowerCase());
    const params = { selector: selectorOf(part), ...(state && { state }) };
    return check(name, params, isNot(part) !== negate, timed ? millisecondsOf(part) : undefined);
  };

const stateAwaited = inState({ timed: true });

export const checkPhrases: readonly Phrase[] = [
  phrase('wait for text "T"', `${wait}(?:the )?text {text}(?: (?:to )?${is} ${shown})?${time}?`, (part) =>
    check("text_visible", { text: part("text") }, false, millisecondsOf(part)),
  ),
  phrase(
    'wait until "X" is hidden',
    `${wait}{name}(?: to)? (?:${is}${not} ${state}|disappears?|vanish(?:es)?|go(?:es)? away)${time}?`,
    (part) => stateAwaited((name) => (name === "state" ? part("state") || "hidden" : part(name))),
  ),
  phrase('wait for "X"', `${wait}{name}(?: (?:to )?(?:${is} ${shown}|appears?))?${time}?`, (part) =>
    check("element_visible", { selector: selectorOf(part) }, false, millisecondsOf(part)),
  ),
  ...pagePhrases,
  ...contentPhrases,
  phrase(
    'check "X" is empty',
    `${maybeVerb}{name} ${is}${not} (?:empty|blank)`,
    checking("element_value", ["selector"], { value: "" }),
  ),
  phrase('check "X" is disabled', `${maybeVerb}{name} ${is}${not} ${state}`, inState()),
  phrase(
    "check NODE is shown",
    `${maybeVerb}(?:the |le |la )?{place:any} ${is}${not} (?:${shown}|open)`,
    placeShown,
  ),
  phrase(
    'check "X" is shown',
    `${maybeVerb}{name} (?:${is}${not} ${shown}|${may}appears?)`,
    checking("element_visible", ["selector"]),
  ),
  phrase('check "X" and "Y" are shown', `${maybeVerb}{name} and {target} ${is}${not} ${shown}`, bothShown),
  phrase('check "X" exists', `${maybeVerb}{name} ${may}exists?`, checking("element_exists", ["selector"])),
  phrase(
    "check we are on NODE",
    `${verb}(?:that )?(?:(?:we|you|i)(?: are|'re| am|'m) )?on {place:any}`,
    placeShown,
  ),
];

function bothShown(part: Parts): Meaning {
  const drafts = ["name", "target"].map(
    (name): Draft => ({
      ...{ type: "verification", command: "element_visible", params: { selector: selectorOf(part, name) } },
      ...(isNot(part) && { negate: true }),
    }),
  );
  return { drafts };
}

/** Checks what proves a place. Going there would prove nothing. */
function placeShown(part: Parts, vocabulary: Vocabulary): Meaning {
  const place = placeCalled(part("place"), vocabulary);
  if ("reason" in place) return place;
  const { label, verifications, pass_condition } = place.found;
  const negate = isNot(part);
  if (verifications.length === 0) return { reason: `the node "${label}" has no verification to know it by` };
  if (negate && verifications.length > 1)
    return { reason: `the node "${label}" has several verifications; say what is not shown` };
  const drafts = verifications.map(
    ({ command, params, type, negate: own = false, timeout_ms }): Draft => ({
      type: "verification",
      command,
      params,
      ...(type && { verification_type: type }),
      ...(own !== negate && { negate: true }),
      ...(timeout_ms !== undefined && { timeout_ms }),
    }),
  );
  return { drafts, any: pass_condition === "any" };
}

export const pausePhrase = phrase(
  "wait 3 seconds",
  `(?:wait|pause|sleep|attend(?:s|re|ez)|warte)${time}`,
  (part) => one({ type: "sleep", duration_ms: millisecondsOf(part) }),
);
