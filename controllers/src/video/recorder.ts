import { join } from "node:path";
import type { Recorder, Recording, RecordingLoss, RecordingOptions, ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { atMost, pause, untilAborted } from "../waiting/deadlines.ts";
import { longestSide, Sampler } from "./sampler.ts";
import { fittedSize } from "./videoFile.ts";

/** A picture that is asked for costs a device more than one of a stream. */
const captureEveryMs = 500;
const captureMs = 20_000;

/** What a device without frames is recorded from. */
export type PictureSource = {
  screen: ScreenSource;
  isAlive(): boolean;
  /** Before a recording starts. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Passes on the pictures that the device sends by itself until they end; returns how many there were. */
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
  readonly #sampler: Sampler;
  readonly #control = new AbortController();
  readonly #following: Promise<void>;
  #latest: Uint8Array | undefined;
  #fault: unknown;
  #loss: RecordingLoss | undefined;
  #finished: Promise<Recording> | undefined;

  constructor(source: PictureSource, options: RecordingOptions) {
    this.#source = source;
    this.#options = options;
    this.#path = join(options.folder, "video.webm");
    this.#sampler = new Sampler({
      path: this.#path,
      mostBytes: options.mostBytes,
      latest: () => this.#latest,
      sizeOf: (picture) => fittedSize(picture, longestSide),
      full: () => void this.end("full"),
    });
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

  async #finish(): Promise<Recording> {
    this.#sampler.stop();
    this.#control.abort(new Error("The recording has ended."));
    await this.#following;
    const { frames, fault } = await this.#sampler.finish();
    const video = { kind: "video", path: this.#path, mimeType: "video/webm" } as const;
    return { files: frames > 0 ? [video] : [], frames, lost: lostOf(frames, this.#fault ?? fault) };
  }
}

function lostOf(frames: number, fault: unknown): string[] {
  if (fault instanceof Error) return [`video: it ends early, ${fault.message.split("\n", 1)[0]}`];
  return frames === 0 ? ["video: the device gave no picture"] : [];
}
