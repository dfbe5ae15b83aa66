import type { ControllerContext } from "../contract.ts";
import { framesOf, streamOf } from "../frames/available.ts";
import type { FrameSource, Moment, StreamSource, VideoFrame } from "../ports.ts";
import { poll } from "../waiting/deadlines.ts";

/** A source that sends nothing for so long has lost its picture; at least three frames of a slow one. */
const goneMs = 1_500;
/** Of 255. Video's black is 16. */
const blackUpTo = 32;

/** Watches the picture of the device that an outlet feeds: that it goes, then that it is back. */
export class PictureWatch {
  /** When the picture was first known to be gone: black, lost, or no frame. */
  goneAt: Moment | undefined;
  backAt: Moment | undefined;
  readonly #frames: FrameSource;
  readonly #stream: StreamSource | undefined;
  readonly #since: Moment;
  #lastFrameAt: Moment;
  #fedFrom: Moment = Number.POSITIVE_INFINITY;
  readonly #end: () => void;

  constructor(frames: FrameSource, stream: StreamSource | undefined) {
    this.#frames = frames;
    this.#stream = stream;
    this.#since = performance.now();
    this.#lastFrameAt = this.#since;
    const format = { width: 64, height: 36, perSecond: 10, pixels: "gray" } as const;
    const subscription = frames.subscribe(format, (frame) => this.#see(frame));
    subscription.ended.catch(() => undefined);
    this.#end = () => subscription.end();
  }

  /** From now on the outlet is on, and a picture counts as back. */
  fed(): void {
    this.#fedFrom = performance.now();
  }

  /** Waits for the picture to go and come back. False when `ms` are over. */
  isBackWithin(ms: number, signal: AbortSignal): Promise<boolean> {
    const ready = async () => {
      this.#look();
      return this.backAt !== undefined;
    };
    return poll(ready, { everyMs: 50, ms, signal });
  }

  end(): void {
    this.#look();
    this.#end();
  }

  #see({ arrivedAt, bytes }: VideoFrame): void {
    if (arrivedAt < this.#since) return;
    this.#look();
    this.#lastFrameAt = arrivedAt;
    if (bytes.every((value) => value <= blackUpTo)) this.goneAt ??= arrivedAt;
    else if (this.goneAt !== undefined && arrivedAt >= this.#fedFrom) this.backAt ??= arrivedAt;
  }

  #look(): void {
    const quietMs = Math.max(goneMs, 3_000 / this.#frames.perSecond);
    if (performance.now() - this.#lastFrameAt > quietMs) this.goneAt ??= this.#lastFrameAt;
    const lost = this.#stream
      ?.events(this.#since)
      .find(({ kind, from }) => (kind === "lost" || kind === "black") && from >= this.#since);
    if (lost) this.goneAt ??= lost.from;
  }
}

/** Undefined for a device without frames. `wanted` throws CONTROLLER_UNAVAILABLE then. */
export function watchPicture(
  { device }: ControllerContext,
  wanted: boolean | undefined,
): PictureWatch | undefined {
  if (wanted === false) return undefined;
  const frames = wanted === true ? device.frames() : framesOf(device);
  return frames && new PictureWatch(frames, streamOf(device));
}
