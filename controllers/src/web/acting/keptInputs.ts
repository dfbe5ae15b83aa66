import type { Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import type { HeldField } from "../page/agent/answers.ts";
import { askAgent } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";

/** An input that its field has taken. `isLost` judges the field's later value. */
export type KeptInput = {
  action: { page: Page; began: number; done: string; token: number };
  isLost(held: HeldField): boolean;
};

/** As many as `agent/fields.ts` keeps. */
const MOST_KEPT = 30;
/** A page that is busy for longer is asked on its next use. */
const ANSWER_MS = 500;

/**
 * The inputs of a device. Their fields are read again before the next action and when the page rests, since a script that starts
 * late may restore old values.
 */
export class KeptInputs {
  #kept: readonly KeptInput[] = [];

  constructor(private readonly session: DrivenSession) {}

  keep(input: KeptInput): void {
    this.#kept = [...this.#kept, input];
  }

  /** For an action that leaves the page. */
  forget(): readonly KeptInput[] {
    this.#kept = [];
    return [];
  }

  /** Removes and returns the inputs for the time of an action. Throws INPUT_NOT_TAKEN if the page has reverted one by itself. */
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
   * Keeps the inputs that {@link take} returned, if the action was an input too. An input that this action removed, such as a choice
   * that empties dependent fields, is not lost.
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

  /** Throws INPUT_NOT_TAKEN as {@link take} does, and keeps the inputs. */
  async refuseLost(signal: AbortSignal): Promise<void> {
    this.#kept = await this.take(signal);
  }

  /** Current values of the fields; undefined for a field that is gone, and for all if the page does not answer. */
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

  /** A page that listens to the field may clear it rightly: it then sends a request, or shows a reason near the field. */
  #isExplained({ action: { page, began } }: KeptInput, { before, now }: HeldField): boolean {
    if (!before.heard) return false;
    return now.around !== before.around || this.session.signals(page).requests.lastWrite() >= began;
  }
}

/** Current values of noted fields that still exist, by their tokens. */
export async function heldFields(
  page: Page,
  tokens: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, HeldField>> {
  const answers = await askFrames(page, signal, (frame) => askAgent(frame, "heldFields", [tokens]));
  const held = answers.flatMap(({ answer }) => answer);
  return new Map(held.map((field) => [field.token, field]));
}
