import { DeviceError } from "../errors.ts";
import type { FrameFormat, FrameSource, FrameSubscription, Moment, VideoFrame } from "../ports.ts";
import type { Frame, Space } from "../shapes.ts";
import { untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { Feed } from "./feed.ts";
import { nameOf, Picture, type Wanted } from "./picture.ts";
import { Reader } from "./reader.ts";

/** A picture that is older says nothing of the screen any more. */
const freshMs = 2_000;
const defaultRing = { seconds: 10, bytes: 64 * 1024 * 1024 };

export type FrameHubOptions = {
  /** What the source sends; the interval between two frames is the error of a time that is measured by them. */
  perSecond: number;
  /** What is kept: frames as they were pushed, so a source of raw frames fills the bytes soon. */
  ring?: { seconds: number; bytes: number };
};

/** A frame as its source gives it. `bytes` are the hub's from now on. Without `arrivedAt`, it arrives now. */
export type PushedFrame = Pick<VideoFrame, "bytes" | "pixels" | "space" | "presentedMs"> & {
  arrivedAt?: Moment;
};

/**
 * The video of one device: its driver pushes what the source sends, and readers take it as a {@link FrameSource}. Every
 * frame is decoded once and converted once for each distinct format, off the main thread. A slow reader blocks no other.
 */
export class FrameHub implements FrameSource {
  readonly perSecond: number;
  /** Frames that had to be decoded so far. */
  decoded = 0;
  #pushed = 0;
  #isEnded = false;
  #latest: Picture | undefined;
  readonly #first: Promise<void>;
  #arrive: () => void = () => undefined;
  readonly #limits: { seconds: number; bytes: number };
  readonly #ring: VideoFrame[] = [];
  #ringBytes = 0;
  readonly #feeds = new Map<string, Feed>();

  constructor({ perSecond, ring = defaultRing }: FrameHubOptions) {
    this.perSecond = perSecond;
    this.#limits = ring;
    this.#first = new Promise((resolve) => {
      this.#arrive = resolve;
    });
  }

  /** Takes the next frame of the source. After {@link end} it is ignored. */
  push({ arrivedAt = performance.now(), ...given }: PushedFrame): void {
    if (this.#isEnded) return;
    this.#pushed++;
    const frame: VideoFrame = { ...given, arrivedAt, number: this.#pushed };
    const picture = new Picture(frame, () => this.decoded++);
    this.#latest = picture;
    this.#keep(frame);
    this.#arrive();
    for (const feed of this.#feeds.values()) feed.offer(picture);
  }

  /** Ends all subscriptions and lets go of all frames: the source is closed or lost. */
  end(): void {
    this.#isEnded = true;
    this.#arrive();
    for (const feed of this.#feeds.values()) for (const reader of feed.readers) reader.end();
    this.#latest = undefined;
    this.#ring.length = 0;
    this.#ringBytes = 0;
  }

  space(): Space | undefined {
    return this.#latest?.frame.space;
  }

  async latest(signal: AbortSignal): Promise<Frame & { number: number; arrivedAt: Moment }> {
    if (!this.#latest && !this.#isEnded) await this.#awaitFirst(signal);
    const picture = this.#latest;
    if (!picture || performance.now() - picture.frame.arrivedAt > freshMs) throw noFrame();
    const { bytes, space, number, arrivedAt } = await untilAborted(picture.as({ pixels: "jpeg" }), signal);
    const takenAt = new Date(performance.timeOrigin + arrivedAt).toISOString();
    return { ...space, bytes, mimeType: "image/jpeg", takenAt, number, arrivedAt };
  }

  ring(from: Moment): readonly VideoFrame[] {
    return this.#ring.filter(({ arrivedAt }) => arrivedAt >= from);
  }

  subscribe(
    { width, height, perSecond, pixels }: FrameFormat,
    read: (frame: VideoFrame) => void | Promise<void>,
  ): FrameSubscription {
    const wanted: Wanted = { pixels, size: { width, height } };
    const key = nameOf(wanted);
    const feed = this.#feeds.get(key) ?? new Feed(wanted);
    const reader = new Reader(read, perSecond, (left) => {
      feed.readers.delete(left);
      if (feed.readers.size === 0 && this.#feeds.get(key) === feed) this.#feeds.delete(key);
    });
    feed.readers.add(reader);
    this.#feeds.set(key, feed);
    if (this.#isEnded) reader.end();
    return reader;
  }

  async #awaitFirst(signal: AbortSignal): Promise<void> {
    const limit = withDeadline(signal, freshMs);
    try {
      await untilAborted(this.#first, limit.signal);
    } catch (error) {
      if (!limit.over()) throw error;
    } finally {
      limit.done();
    }
  }

  #keep(frame: VideoFrame): void {
    this.#ring.push(frame);
    this.#ringBytes += frame.bytes.byteLength;
    const oldest = frame.arrivedAt - this.#limits.seconds * 1_000;
    let outdated = 0;
    for (const { arrivedAt, bytes } of this.#ring) {
      if (arrivedAt >= oldest && this.#ringBytes <= this.#limits.bytes) break;
      this.#ringBytes -= bytes.byteLength;
      outdated++;
    }
    this.#ring.splice(0, outdated);
  }
}

const noFrame = (): DeviceError =>
  new DeviceError(
    "DEVICE_ERROR",
    `The device has sent no frame for ${freshMs / 1_000} s; check that its source is on and connected.`,
  );
