import { type FileHandle, open } from "node:fs/promises";
import { vp8Of, webmCues, webmFrame, webmHead } from "./webm.ts";

/** Loaded with the first picture: its library costs 30 MB. */
const loadSharp = async () => (await import("sharp")).default;

/** 34 ms and 3 kB for a picture of 1280 x 720 of text on our two cores; effort 2 takes 44 ms for 2 kB. */
const encoding = { quality: 70, effort: 0 };

/**
 * A WebM file that is written while it is recorded, without another program: libwebp, which sharp has, writes the
 * same bits as a VP8 key frame, so every picture is one, and a player can go to each. Until {@link finish} the file can
 * be played, but has no length.
 */
export class VideoFile {
  readonly #file: FileHandle;
  readonly #size: { width: number; height: number };
  readonly #frames: { atMs: number; position: number }[] = [];
  #last: Buffer | undefined;
  #bytes = 0;

  private constructor(file: FileHandle, size: { width: number; height: number }) {
    this.#file = file;
    this.#size = size;
  }

  static async create(path: string, size: { width: number; height: number }): Promise<VideoFile> {
    const video = new VideoFile(await open(path, "wx", 0o600), size);
    await video.#append(webmHead(size));
    return video;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get frames(): number {
    return this.#frames.length;
  }

  /** A picture of any size and format, fitted into the video's, as it is seen from `atMs` on. */
  async add(picture: Uint8Array, atMs: number): Promise<void> {
    const sharp = await loadSharp();
    const fitted = sharp(picture).resize({ ...this.#size, fit: "contain" });
    this.#last = vp8Of(await fitted.webp(encoding).toBuffer());
    await this.#addFrame(this.#last, atMs);
  }

  /** Shows the last picture until `atMs`. */
  async finish(atMs: number): Promise<void> {
    try {
      if (this.#last !== undefined) await this.#addFrame(this.#last, atMs);
      const cuesAt = this.#bytes;
      await this.#append(webmCues(this.#frames));
      const head = webmHead({ ...this.#size, end: { durationMs: atMs, cuesAt, bytes: this.#bytes } });
      await this.#file.write(head, 0, undefined, 0);
    } finally {
      await this.#file.close();
    }
  }

  async #addFrame(vp8: Uint8Array, atMs: number): Promise<void> {
    const position = this.#bytes;
    await this.#append(webmFrame(Math.round(atMs), vp8));
    this.#frames.push({ atMs: Math.round(atMs), position });
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.#file.write(bytes, 0, undefined, this.#bytes);
    this.#bytes += bytes.length;
  }
}

/** The size of a picture, made smaller where its longest side is longer than this. */
export async function fittedSize(picture: Uint8Array, longest: number) {
  const sharp = await loadSharp();
  const { width, height } = await sharp(picture).metadata();
  const scale = Math.min(1, longest / Math.max(width, height));
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}
