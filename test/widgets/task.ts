import type { OurHand, TheirHand } from "./hands.ts";

/** How a widget's task is done with each side's tools, on the open page, and when the widget itself says that it is done. */
export type Task = {
  /** Of what the page's `oracle()` returns. False before the task. */
  done(state: State): boolean;
  ours(hand: OurHand): Promise<void>;
  theirs(hand: TheirHand): Promise<void>;
};

/** What a widget says of itself, by the names its page gives. */
export type State = Readonly<Record<string, unknown>>;

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
