import { join } from "node:path";
import type { Recorder, Recording, RecordingLoss, RecordingOptions, ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { atMost, pause, untilAborted } from "../waiting/deadlines.ts";
import { fittedSize, VideoFile } from "./videoFile.ts";

/** Ten pictures a second show what a person or a program does; encoding each takes 34 ms. */
const everyMs = 100;
/** A picture that is asked for costs a device more than one of a stream. */
const captureEveryMs = 500;
const captureMs = 20_000;
const longestSide = 1_280;

/** What a device without frames is recorded from. */
export type PictureSource = {
  screen: ScreenSource;
  isAlive(): boolean;
  /** Before a recording starts. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Tells the pictures that the device sends by itself until they end; returns how many there were. */
  stream?(seen: (picture: Uint8Array) => void, signal: AbortSignal): Promise<number>;
};

/** Records from the stream of pictures; without a stream, or when it fails, from one screenshot after another. */
export function createRecorder(source: PictureSource): { recorder: Recorder; close(): Promise<void> } {
  let current: LiveRecording | undefined;
  const recorder: Recorder = {
    kinds: ["video"],
    sound: false,
    async start(options, signal) {
      if (current !== undefined) throw rejected("is being recorded. Stop that recording first");
      await source.prepare?.(signal);
      current = new LiveRecording(source, options);
    },
    async stop(signal) {
      const recording = current;
      if (recording === undefined) throw rejected("is not being recorded. Start a recording first");
      try {
        return await untilAborted(recording.finish(), signal);
      } finally {
        if (current === recording) current = undefined;
      }
    },
  };
  return { recorder, close: async () => current?.end("device_closed") };
}

const rejected = (why: string) => new DeviceError("ACTION_REJECTED", `This device ${why}.`);

class LiveRecording {
  readonly #source: PictureSource;
  readonly #options: RecordingOptions;
  readonly #path: string;
  readonly #startedAt = performance.now();
  readonly #control = new AbortController();
  readonly #following: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #latest: Uint8Array | undefined;
  #shown: Uint8Array | undefined;
  #video: VideoFile | undefined;
  #writing: Promise<void> | undefined;
  #fault: unknown;
  #loss: RecordingLoss | undefined;
  #finished: Promise<Recording> | undefined;

  constructor(source: PictureSource, options: RecordingOptions) {
    this.#source = source;
    this.#options = options;
    this.#path = join(options.folder, "video.webm");
    this.#timer = setInterval(() => this.#sample(), everyMs).unref();
    this.#following = this.#follow().catch((error) => {
      if (!this.#control.signal.aborted) this.#fault ??= error;
    });
  }

  /** Once; whoever asks again gets the same. */
  finish(): Promise<Recording> {
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  /** It ends by itself; what there is by then stays. Never throws. */
  async end(reason: RecordingLoss): Promise<void> {
    if (this.#loss !== undefined || this.#finished !== undefined) return;
    this.#loss = reason;
    this.#options.ended(reason);
    // Whoever stops it hears of a failure.
    await this.finish().catch(() => undefined);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#control;
    const seen = (picture: Uint8Array) => {
      this.#latest = picture;
    };
    while (!signal.aborted) {
      const count = (await this.#source.stream?.(seen, signal)) ?? 0;
      if (count === 0) await this.#capture(signal);
      if (signal.aborted) return;
      if (!this.#source.isAlive()) return void this.end("device_lost");
      await pause(captureEveryMs, signal);
    }
  }

  /** A screen that forbids pictures now may allow them later. */
  async #capture(signal: AbortSignal): Promise<void> {
    const limit = atMost(signal, captureMs);
    try {
      const { bytes } = await this.#source.screen.capture({ format: "jpeg" }, limit);
      this.#latest = bytes;
    } catch (error) {
      if (!(error instanceof DeviceError) && !limit.aborted) throw error;
    }
  }

  #sample(): void {
    this.#writing ??= this.#writeSafely().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeSafely(): Promise<void> {
    if (this.#fault !== undefined) return;
    try {
      await this.#write();
    } catch (error) {
      this.#fault = error;
    }
  }

  async #write(): Promise<void> {
    const picture = this.#latest;
    const isSame = picture !== undefined && this.#shown !== undefined && sameBytes(picture, this.#shown);
    if (picture === undefined || isSame) return;
    this.#shown = picture;
    const at = this.#now();
    this.#video ??= await VideoFile.create(this.#path, await fittedSize(picture, longestSide));
    await this.#video.add(picture, at);
    if (this.#video.bytes > this.#options.mostBytes) void this.end("full");
  }

  async #finish(): Promise<Recording> {
    clearInterval(this.#timer);
    this.#control.abort(new Error("The recording has ended."));
    await this.#following;
    await this.#writing;
    await this.#writeSafely();
    const frames = this.#video?.frames ?? 0;
    await this.#video?.finish(this.#now());
    const video = { kind: "video", path: this.#path, mimeType: "video/webm" } as const;
    return { files: frames > 0 ? [video] : [], frames, lost: this.#lost(frames) };
  }

  #lost(frames: number): string[] {
    const { message = undefined } = this.#fault instanceof Error ? this.#fault : {};
    if (message !== undefined) return [`video: it ends early, ${message.split("\n", 1)[0]}`];
    return frames === 0 ? ["video: the device gave no picture"] : [];
  }

  #now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

/** A stream repeats the picture of a screen that stands still. */
const sameBytes = (one: Uint8Array, other: Uint8Array) => one === other || Buffer.from(one).equals(other);
