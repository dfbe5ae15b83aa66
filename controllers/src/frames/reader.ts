import type { FrameSubscription, VideoFrame } from "../ports.ts";

/** A frame may come this part of the interval early and is still on time: sources jitter. */
const earlyPart = 0.25;

/** One reader of a video: it gets a frame when it is done with the one before, the newest that there is by then. */
export class Reader implements FrameSubscription {
  dropped = 0;
  readonly ended: Promise<void>;
  readonly #read: (frame: VideoFrame) => void | Promise<void>;
  readonly #intervalMs: number;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #leave: (reader: Reader) => void;
  #dueMs = Number.NEGATIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  #isEnded = false;
  #waiting: VideoFrame | undefined;

  constructor(
    read: (frame: VideoFrame) => void | Promise<void>,
    perSecond: number,
    leave: (reader: Reader) => void,
  ) {
    this.#read = read;
    this.#intervalMs = 1_000 / perSecond;
    this.#leave = leave;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever does not ask how it ended does not hear of a failure.
    this.ended.catch(() => undefined);
  }

  /** Whether a frame that is shown at that time is one of the `perSecond` that the reader wants. Asked once a frame, in order. */
  wants(presentedMs: number): boolean {
    // A source that began anew begins its clock anew.
    if (presentedMs < this.#lastMs) this.#dueMs = presentedMs;
    this.#lastMs = presentedMs;
    if (presentedMs < this.#dueMs - this.#intervalMs * earlyPart) return false;
    // A pause of the source is not made good afterwards.
    const isLate = presentedMs > this.#dueMs + this.#intervalMs;
    this.#dueMs = (isLate ? presentedMs : this.#dueMs) + this.#intervalMs;
    return true;
  }

  give(frame: VideoFrame): void {
    if (this.#isEnded) return;
    if (!this.#isBusy) return void this.#work(frame);
    if (this.#waiting) this.dropped++;
    this.#waiting = frame;
  }

  end(): void {
    this.#finish();
    this.#resolve();
  }

  async #work(first: VideoFrame): Promise<void> {
    this.#isBusy = true;
    try {
      for (let frame: VideoFrame | undefined = first; frame && !this.#isEnded; frame = this.#takeWaiting())
        await this.#read(frame);
    } catch (error) {
      this.#finish();
      this.#reject(error);
    }
    this.#isBusy = false;
  }

  #takeWaiting(): VideoFrame | undefined {
    const frame = this.#waiting;
    this.#waiting = undefined;
    return frame;
  }

  #finish(): void {
    this.#isEnded = true;
    this.#waiting = undefined;
    this.#leave(this);
  }
}
