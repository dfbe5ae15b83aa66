import type { Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import type { HeldField } from "../page/agent/fields.ts";
import { askAgent } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";

/** An input that its field has taken. `isLost` judges what the field holds later. */
export type KeptInput = {
  action: { page: Page; began: number; done: string; token: number };
  isLost(held: HeldField): boolean;
};

/** The page keeps as many, in `agent/fields.ts`. */
const MOST_KEPT = 30;
/** A page that is busy for longer is asked when it is used next. */
const ANSWER_MS = 500;

/**
 * The inputs of a device. Their fields are read again before the next action and when the page rests: a script that starts late
 * may put back what they held.
 */
export class KeptInputs {
  #kept: readonly KeptInput[] = [];

  constructor(private readonly session: DrivenSession) {}

  keep(input: KeptInput): void {
    this.#kept = [...this.#kept, input];
  }

  /** For an action that leaves the page: what it held no longer counts. */
  forget(): readonly KeptInput[] {
    this.#kept = [];
    return [];
  }

  /** Takes the inputs for the time of an action. Throws INPUT_NOT_TAKEN where the page has put one back by itself. */
  async take(signal: AbortSignal): Promise<readonly KeptInput[]> {
    const kept = this.#kept;
    this.#kept = [];
    const fields = await this.#read(kept, signal);
    const lost = kept.find((input, at) => {
      const held = fields[at];
      return held && input.isLost(held) && !this.#isExplained(input, held);
    });
    if (!lost) return kept;
    throw new DeviceError(
      "INPUT_NOT_TAKEN",
      `An input is lost: after "${lost.action.done}" the field held it, and then the page put back what was there before, as pages do whose script starts late. Wait for what shows that the page is ready, then repeat it.`,
    );
  }

  /**
   * Puts back what {@link take} gave, if the action was an input too. An input that this one itself took away, as a choice does
   * that empties the fields that depend on it, is not lost.
   */
  async keepOn(earlier: readonly KeptInput[], signal: AbortSignal): Promise<void> {
    if (this.#kept.length === 0) return;
    const fields = await this.#read(earlier, signal);
    const held = earlier.filter((input, at) => {
      const field = fields[at];
      return field && !input.isLost(field);
    });
    this.#kept = [...held, ...this.#kept].slice(-MOST_KEPT);
  }

  /** Throws INPUT_NOT_TAKEN as {@link take} does, while nothing acts. */
  async refuseLost(signal: AbortSignal): Promise<void> {
    this.#kept = await this.take(signal);
  }

  /** What the fields hold now; undefined for one that is gone, and for all while the page does not answer. */
  async #read(kept: readonly KeptInput[], signal: AbortSignal): Promise<readonly (HeldField | undefined)[]> {
    const isThere = this.session.isAlive() && this.session.pages().length > 0;
    const page = isThere ? this.session.page() : undefined;
    const tokens = kept.flatMap(({ action }) => (action.page === page ? [action.token] : []));
    if (!page || tokens.length === 0) return [];
    const limit = withDeadline(signal, ANSWER_MS);
    try {
      const found = await heldFields(page, tokens, limit.signal);
      return kept.map(({ action }) => found.get(action.token));
    } catch {
      signal.throwIfAborted();
      return [];
    } finally {
      limit.done();
    }
  }

  /**
   * A page that heard the input may clear the field rightly: it then sends the input on, or says why near the field. One that
   * did not hear it has no reason to.
   */
  #isExplained({ action: { page, began } }: KeptInput, { before, now }: HeldField): boolean {
    if (!before.heard) return false;
    return now.around !== before.around || this.session.signals(page).requests.lastWrite() >= began;
  }
}

/** What fields that were noted hold now, by their tokens; one that is gone is absent. */
export async function heldFields(
  page: Page,
  tokens: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, HeldField>> {
  const answers = await askFrames(page, signal, (frame) => askAgent(frame, "heldFields", [tokens]));
  const held = answers.flatMap(({ answer }) => answer);
  return new Map(held.map((field) => [field.token, field]));
}
