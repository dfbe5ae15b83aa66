import type { z } from "zod";
import { type Check, defineCheck, type Reading } from "../contract.ts";
import type { StateWord } from "../elements/stateWords.ts";
import type { Target, targetShape } from "../elements/target.ts";
import { portable } from "../portable.ts";

type StateCheckOffer = Pick<
  Check<z.ZodObject<typeof targetShape>>,
  "name" | "description" | "input" | "judges"
>;

/** Checks of one state each: names that tests have used before `element_state`. */
const ofOneState: readonly [StateCheckOffer, StateWord][] = [
  [portable.element_checked, "checked"],
  [portable.element_enabled, "enabled"],
  [portable.element_focused, "focused"],
];

/** The checks of states, by how a driver reads the one thing that a target means. */
export function stateChecks(
  read: (target: Target, word: StateWord, signal: AbortSignal) => Promise<Reading>,
  more: readonly [StateCheckOffer, StateWord][] = [],
): Check[] {
  return [
    ...[...ofOneState, ...more].map(([offer, word]) =>
      defineCheck({ ...offer, read: (target, signal) => read(target, word, signal) }),
    ),
    defineCheck({
      ...portable.element_state,
      read: ({ state, ...target }, signal) => read(target, state, signal),
    }),
  ];
}
