import type { Moment } from "../ports.ts";

/** Two clocks drift apart by less. */
const driftPart = 1e-4;
/** No frame is held up for so long: the stream's clock was set, or a damaged frame named another time. */
const jumpMs = 10_000;

/**
 * Where the stream's clock stands on ours. The frame that came the soonest after its time is the measure: what comes later
 * was held up on its way.
 */
export class StreamClock {
  #offsetMs: number | undefined;
  #at = 0;

  /** A frame of the stream's time came at a moment. */
  observe(seconds: number, arrivedAt: Moment): void {
    const offset = arrivedAt - seconds * 1_000;
    if (Math.abs(offset - (this.#offsetMs ?? offset)) > jumpMs) this.reset();
    const allowed = (this.#offsetMs ?? offset) + Math.max(0, arrivedAt - this.#at) * driftPart;
    this.#offsetMs = this.#offsetMs === undefined ? offset : Math.min(offset, allowed);
    this.#at = arrivedAt;
  }

  /** The moment at which a frame of that time comes, if nothing holds it up. */
  momentOf(seconds: number): Moment {
    return seconds * 1_000 + (this.#offsetMs ?? 0);
  }

  reset(): void {
    this.#offsetMs = undefined;
  }
}
