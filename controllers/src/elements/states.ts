import type { Reading } from "../contract.ts";
import { quoted } from "./quoted.ts";
import { inconclusive } from "./readings.ts";
import type { StateName, States } from "./stateTable.ts";
import type { StateWord } from "./stateWords.ts";
import type { Target } from "./target.ts";

/** A thing as its states are judged. */
export type Stateful = { role: string; visible: boolean; states: States };

type Meaning = {
  /** The first of these that the thing can be in counts. */
  reads: readonly StateName[];
  is: boolean | "mixed";
  /** What cannot be seen cannot be used. */
  needsSight?: true;
};

/** What each word of a test says of a thing. */
const meanings: Readonly<Record<StateWord, Meaning>> = {
  checked: { reads: ["checked"], is: true },
  unchecked: { reads: ["checked"], is: false },
  mixed: { reads: ["checked", "pressed"], is: "mixed" },
  on: { reads: ["checked", "pressed"], is: true },
  off: { reads: ["checked", "pressed"], is: false },
  selected: { reads: ["selected"], is: true },
  pressed: { reads: ["pressed"], is: true },
  expanded: { reads: ["expanded", "open"], is: true },
  collapsed: { reads: ["expanded", "open"], is: false },
  open: { reads: ["expanded", "open"], is: true },
  closed: { reads: ["expanded", "open"], is: false },
  current: { reads: ["current"], is: true },
  enabled: { reads: ["disabled"], is: false, needsSight: true },
  disabled: { reads: ["disabled"], is: true, needsSight: true },
  editable: { reads: ["editable"], is: true },
  readonly: { reads: ["readonly"], is: true },
  required: { reads: ["required"], is: true },
  optional: { reads: ["required"], is: false },
  invalid: { reads: ["invalid"], is: true },
  valid: { reads: ["invalid"], is: false },
  busy: { reads: ["busy"], is: true },
  focused: { reads: ["focused"], is: true },
};

const surfaces = /^(dialog|alertdialog|menu|listbox|tooltip|tabpanel|region|navigation|complementary)$/;

/** Undefined for a word that says nothing of such a thing. */
function valueFor(word: StateWord, { role, visible, states }: Stateful): boolean | "mixed" | undefined {
  // Of radio buttons one is selected, and it says so by being checked.
  if (word === "selected" && /^(radio|menuitemradio)$/.test(role)) return states.checked;
  const name = meanings[word].reads.find((one) => states[one] !== undefined);
  if (name !== undefined) return states[name];
  // What opens as a whole is open while it can be seen.
  if (/^(open|closed)$/.test(word) && surfaces.test(role)) return visible;
  return undefined;
}

/** Judges the one thing that a check is about by a word. */
export function readState(word: StateWord, called: string, thing: Stateful): Reading {
  const expected = `${called} is ${word}`;
  const { is, needsSight } = meanings[word];
  const value = valueFor(word, thing);
  if (value === undefined) {
    const what = thing.role === "" ? "an element without a role" : `a ${thing.role}`;
    return inconclusive(expected, `it is ${what}, and nothing says whether it is ${word}`);
  }
  if (needsSight && !thing.visible)
    return { holds: false, expected, actual: "it is hidden", missing: "unclear" };
  const holds = value === is;
  return { holds, expected, actual: `it is ${holds ? word : (reasonOf(word, thing) ?? `not ${word}`)}` };
}

/** The state that stands against the word, where it has a name of its own. */
function reasonOf(word: StateWord, { states }: Stateful): string | undefined {
  const reasons = word === "editable" ? (["disabled", "readonly"] as const) : [];
  const opposite = opposites[word];
  return reasons.find((one) => states[one] === true) ?? opposite;
}

const opposites: Readonly<Partial<Record<StateWord, StateWord>>> = {
  enabled: "disabled",
  disabled: "enabled",
  expanded: "collapsed",
  collapsed: "expanded",
  open: "closed",
  closed: "open",
};

export const calledBy = ({ ref, selector }: Target): string => quoted(selector ?? ref ?? "");
