import { join } from "node:path";
import type { Recorder, Recording, RecordingLoss, RecordingOptions, ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { fittedSize, VideoFile } from "../video/videoFile.ts";
import { pause, untilAborted } from "../waiting/deadlines.ts";
import type { AndroidDevice } from "./device.ts";
import { readMjpeg } from "./mjpeg.ts";
import type { UiBackend } from "./ui/backend.ts";

/** Ten pictures a second show what a person or a program does; encoding each takes 34 ms. */
const everyMs = 100;
/** A picture by screencap is ten times as large. */
const captureEveryMs = 500;
const captureMs = 20_000;
const longestSide = 1_280;
/** In percent of the screen's size, and of JPEG's quality. */
const stream = { mjpegServerFramerate: 10, mjpegScalingFactor: 50, mjpegServerScreenshotQuality: 70 };

type Source = { device: AndroidDevice; backend: UiBackend; screen: ScreenSource };

/** Records the screen: from the driver's stream of pictures, else by one picture after another. */
export function createRecorder(source: Source): { recorder: Recorder; close(): Promise<void> } {
  let current: LiveRecording | undefined;
  const recorder: Recorder = {
    kinds: ["video"],
    sound: false,
    async start(options, signal) {
      if (current !== undefined) throw rejected("is being recorded. Stop that recording first");
      await prepareStream(source.backend, signal);
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

/** Without the driver, or when it fails, pictures are taken one by one. */
async function prepareStream(backend: UiBackend, signal: AbortSignal): Promise<void> {
  if (backend.whyNoSession() !== undefined) return;
  try {
    const session = await backend.session(signal);
    await session.ask("POST", "/appium/settings", { settings: stream }, { signal });
  } catch {
    signal.throwIfAborted();
  }
}

class LiveRecording {
  readonly #source: Source;
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

  constructor(source: Source, options: RecordingOptions) {
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
    while (!signal.aborted) {
      const session = this.#source.backend.findSession();
      const seen = (picture: Uint8Array) => {
        this.#latest = picture;
      };
      const count = session === undefined ? 0 : await readMjpeg(session.mjpegPort, seen, signal);
      if (count === 0) await this.#capture(signal);
      if (signal.aborted) return;
      if (!this.#source.device.isAlive()) return void this.end("device_lost");
      await pause(captureEveryMs, signal);
    }
  }

  /** A screen that forbids pictures now may allow them later. */
  async #capture(signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(captureMs)]);
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
