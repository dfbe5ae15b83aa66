import type { CommandResult, DevicePorts } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { streamOf } from "../frames/available.ts";
import type { Moment, SoundLevel, StreamSource, VideoFrame } from "../ports.ts";
import type { Rect } from "../shapes.ts";
import { untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { everyFrame, type Sample, Sampler } from "./sample.ts";

/** What moved before the key is known from so much of the stream. */
const preRollMs = 500;
const firstFramesMs = 4_000;
/** Beyond the timeout, for a stream that comes late or stops. */
const lateMs = 5_000;
/** Frames are kept so long, so that a result may still choose them as evidence. */
const keptMs = 4_000;
/** A result is looked for again after so many frames. */
const lookEvery = 4;

/** When a key left, and how far off that may be. */
export type KeyPress = { at: Moment; errorMs: number };
export type Delay = StreamSource["delay"] & { isKnown: boolean };

export type Watch = {
  /** In parts of the picture, 0 to 1. */
  area: Rect;
  /** After the key, on the source's clock. */
  timeoutMs: number;
  /** Presses the key; without it, the time counts from the moment of the call. */
  press?: (() => Promise<CommandResult>) | undefined;
  /** Asked again and again: whether more frames are needed, and which ones prove the result so far. */
  look(reel: Reel): { isDone: boolean; evidence: readonly number[] };
};

/** The frames around a key, as samples, and the key on their clock. */
export class Reel {
  readonly samples: Sample[] = [];
  /** Since the key. */
  readonly levels: SoundLevel[] = [];
  readonly delay: Delay;
  readonly intervalMs: number;
  /** A source without sound, or a device without a stream, has none. */
  readonly stream: StreamSource | undefined;
  #key: KeyPress = { at: performance.now(), errorMs: 0 };
  #offset = Number.POSITIVE_INFINITY;
  #frames: { place: number; frame: VideoFrame }[] = [];

  constructor(device: Pick<DevicePorts, "frames" | "stream">) {
    this.intervalMs = 1_000 / device.frames().perSecond;
    this.stream = streamOf(device);
    this.delay = this.stream
      ? { ...this.stream.delay, isKnown: true }
      : { ms: 0, errorMs: 0, isKnown: false };
  }

  get key(): KeyPress {
    return this.#key;
  }

  /** The key's moment on the clock of the samples. */
  get keyMs(): number {
    return this.#key.at - this.#offset + this.delay.ms;
  }

  /** The place of the last sample at the key or before it. */
  get keyPlace(): number {
    return this.samples.findLastIndex(({ presentedMs }) => presentedMs <= this.keyMs);
  }

  get newestMs(): number {
    return this.samples.at(-1)?.presentedMs ?? 0;
  }

  /** ms from the key to a sample. */
  after(place: number): number {
    return Math.round((this.samples[place]?.presentedMs ?? 0) - this.keyMs);
  }

  /** How far off the time of these samples may be: a frame that was lost before one counts. */
  errorMs(places: readonly number[]): number {
    const gaps = places.map((place) => {
      const [before, at] = [this.samples[place - 1], this.samples[place]];
      return before && at ? at.presentedMs - before.presentedMs : 0;
    });
    return Math.ceil(Math.max(this.intervalMs, ...gaps) + this.delay.errorMs + this.#key.errorMs);
  }

  picture(place: number): VideoFrame | undefined {
    return this.#frames.find((kept) => kept.place === place)?.frame;
  }

  pressed(key: KeyPress): void {
    this.#key = key;
  }

  add(frame: VideoFrame, sample: Sample): void {
    this.samples.push(sample);
    this.#frames.push({ place: this.samples.length - 1, frame });
    this.#offset = Math.min(this.#offset, frame.arrivedAt - frame.presentedMs);
  }

  /** Takes the levels that came meanwhile: a capture forgets them. */
  hear(): void {
    const heard = this.levels.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    const levels = this.stream?.levels(Math.max(heard, this.#key.at)) ?? [];
    this.levels.push(...levels.filter(({ at }) => at > heard));
  }

  /** Lets go of older frames that prove nothing. */
  keepOnly(evidence: readonly number[]): void {
    const oldest = this.newestMs - keptMs;
    this.#frames = this.#frames.filter(
      ({ place, frame }) => frame.presentedMs >= oldest || evidence.includes(place),
    );
  }
}

/**
 * Watches the device's picture from shortly before a key until `look` says that it is enough, or the timeout. Throws
 * CONTROLLER_UNAVAILABLE for a device without frames, DEVICE_ERROR where they do not come, stop or begin anew, and what the key throws.
 */
export async function record(
  device: Pick<DevicePorts, "frames" | "stream">,
  { area, timeoutMs, press, look }: Watch,
  signal: AbortSignal,
): Promise<Reel> {
  const reel = new Reel(device);
  const sampler = new Sampler(area);
  let check = () => {};
  const subscription = device.frames().subscribe(everyFrame, (frame) => {
    const isBack = frame.presentedMs < reel.newestMs;
    if (isBack) throw broken("began anew");
    reel.add(frame, sampler.sample(frame));
    check();
  });
  const over = subscription.ended.then(() => Promise.reject(broken("ended")));
  const until = async (ready: () => boolean, ms: number) => {
    const enough = new Promise<void>((resolve) => {
      check = () => ready() && resolve();
      check();
    });
    const limit = withDeadline(signal, ms);
    try {
      await untilAborted(Promise.race([enough, over]), limit.signal);
    } catch (error) {
      throw limit.over() && !signal.aborted ? broken("did not go on") : error;
    } finally {
      limit.done();
    }
  };
  try {
    await until(() => reel.newestMs - (reel.samples[0]?.presentedMs ?? 0) >= preRollMs, firstFramesMs);
    reel.pressed(await pressAt(press));
    const isOver = () => {
      if (reel.samples.length % lookEvery !== 0) return false;
      reel.hear();
      const { isDone, evidence } = look(reel);
      reel.keepOnly(evidence);
      return isDone || reel.newestMs - reel.keyMs >= timeoutMs;
    };
    await until(isOver, timeoutMs + reel.delay.ms + lateMs);
    return reel;
  } finally {
    check = () => {};
    subscription.end();
    over.catch(() => undefined);
  }
}

async function pressAt(press: Watch["press"]): Promise<KeyPress> {
  const before = performance.now();
  if (!press) return { at: before, errorMs: 0 };
  const { sentAt } = await press();
  if (sentAt !== undefined) return { at: sentAt, errorMs: 0 };
  const halfMs = (performance.now() - before) / 2;
  return { at: before + halfMs, errorMs: halfMs };
}

const broken = (what: string): DeviceError =>
  new DeviceError(
    "DEVICE_ERROR",
    `The device's video ${what} while it was measured; check that its source is on and connected, then measure again.`,
  );
