import { VideoFile } from "./videoFile.ts";

/** Ten pictures a second show what a person or a program does; encoding each takes 34 ms. */
export const everyMs = 100;
export const longestSide = 1_280;

type Size = { width: number; height: number };
type Options = {
  path: string;
  mostBytes: number;
  /** The picture to show now. */
  latest(): Uint8Array | undefined;
  /** Of the video, by its first picture. */
  sizeOf(picture: Uint8Array): Size | Promise<Size>;
  /** The video has `mostBytes`. */
  full(): void;
};

/** Writes the latest picture into a video whenever it is another one. */
export class Sampler {
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #video: VideoFile | undefined;
  #shown: Uint8Array | undefined;
  #writing: Promise<void> | undefined;
  #fault: unknown;

  constructor(private readonly options: Options) {
    this.#timer = setInterval(() => this.#sample(), everyMs).unref();
  }

  /** Takes no more pictures. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Ends the file. `frames` is 0, and there is no file, when there was no picture; `fault` is what ended it early. */
  async finish(): Promise<{ frames: number; fault: unknown }> {
    this.stop();
    await this.#writing;
    await this.#writeSafely();
    await this.#video?.finish(this.#now());
    return { frames: this.#video?.frames ?? 0, fault: this.#fault };
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
    const { path, mostBytes, latest, sizeOf, full } = this.options;
    const picture = latest();
    if (picture === undefined || (this.#shown && sameBytes(picture, this.#shown))) return;
    this.#shown = picture;
    const at = this.#now();
    this.#video ??= await VideoFile.create(path, await sizeOf(picture));
    await this.#video.add(picture, at);
    if (this.#video.bytes > mostBytes) full();
  }

  #now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

/** A stream repeats the picture of a screen that stands still. */
const sameBytes = (one: Uint8Array, other: Uint8Array) => one === other || Buffer.from(one).equals(other);
