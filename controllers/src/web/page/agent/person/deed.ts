/** What the watch of a person's inputs sends out of a page. */
import type { Candidate } from "../../../../elements/ranking.ts";

/** An element as it was before the page could react to the input. Candidates are ranked, best first. */
export type DeedTarget = { candidates: Candidate[]; role: string; name: string };

/**
 * `command` is a command of browsers without its target, `pick` for an element that was pointed at, or `picking` when the person
 * asks to point. `replaces` says how many clicks right before belong to it. `secret` names the value of a secret field, which stays
 * in the page.
 */
export type Deed = {
  command: string;
  params: Record<string, string | number | boolean | string[]>;
  target?: DeedTarget;
  onto?: DeedTarget;
  replaces?: number;
  secret?: string;
  /** Address of the frame, and whether it is the page's own. */
  frame: string;
  isTop: boolean;
};
