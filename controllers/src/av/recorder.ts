import { createWriteStream, type WriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Recorder, Recording, RecordingLoss, RecordingOptions } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { runProgram } from "../programs/run.ts";

/** Only copied: 1 GB takes some seconds. */
const repackMs = 120_000;

export type RecordingSource = {
  /** Has the recording's bytes come to {@link StreamRecorder.add}; resolves when they do. */
  begin(signal: AbortSignal): Promise<void>;
  end(): void;
  ffmpeg(): string;
  hasSound(): boolean;
};

/** Keeps the MPEG-TS that ffmpeg sends, and puts it into an MP4 file at the end. */
export class StreamRecorder implements Recorder {
  readonly kinds = ["video"] as const;
  readonly #source: RecordingSource;
  #current: Current | undefined;

  constructor(source: RecordingSource) {
    this.#source = source;
  }

  get sound(): boolean {
    return this.#source.hasSound();
  }

  isRecording = (): boolean => this.#current !== undefined;

  async start(options: RecordingOptions, signal: AbortSignal): Promise<void> {
    if (this.#current) throw rejected("is being recorded. Stop that recording first");
    const path = join(options.folder, "video.ts");
    const file = createWriteStream(path, { mode: 0o600 });
    const current: Current = { options, path, file, bytes: 0, isOver: false };
    file.on("error", (error) => this.#fail(current, error));
    this.#current = current;
    try {
      await this.#source.begin(signal);
    } catch (error) {
      this.#current = undefined;
      file.destroy();
      throw error;
    }
  }

  /** What ffmpeg sends of the recording. A disk that is slower than the stream is waited for in memory, up to 64 MB. */
  add(bytes: Buffer): void {
    const current = this.#current;
    if (!current || current.isOver) return;
    if (current.bytes + bytes.length > current.options.mostBytes) {
      this.lose("full");
      return;
    }
    if (current.file.writableLength > 64 * 1024 * 1024) {
      this.#fail(current, new Error("the disk is too slow"));
      return;
    }
    current.bytes += bytes.length;
    current.file.write(bytes);
  }

  /** It ends by itself; what there is by then can be had from `stop`. */
  lose(reason: RecordingLoss): void {
    const current = this.#current;
    if (!current || current.isOver) return;
    current.isOver = true;
    current.options.ended(reason);
  }

  #fail(current: Current, fault: Error): void {
    current.fault ??= fault;
    if (current === this.#current) this.lose("full");
  }

  async stop(signal: AbortSignal): Promise<Recording> {
    const current = this.#current;
    if (!current) throw rejected("is not being recorded. Start a recording first");
    this.#current = undefined;
    this.#source.end();
    current.isOver = true;
    await new Promise<void>((resolve) => {
      if (current.file.destroyed) resolve();
      else current.file.once("close", resolve).end();
    });
    return await this.#finished(current, signal);
  }

  async #finished({ options, path, fault }: Current, signal: AbortSignal): Promise<Recording> {
    const early = fault ? [`video: it ends early, ${fault.message}`] : [];
    const sizeOf = async (file: string) => (await stat(file).catch(() => undefined))?.size ?? 0;
    if ((await sizeOf(path)) === 0)
      return { files: [], frames: 0, lost: early.length > 0 ? early : ["video: the source sent nothing"] };
    const mp4 = join(options.folder, "video.mp4");
    const args = [
      ...["-nostdin", "-v", "error", "-progress", "pipe:1", "-y", "-i", path],
      ...["-map", "0", "-c", "copy", "-movflags", "+faststart", mp4],
    ];
    const { code, stdout } = await runProgram(this.#source.ffmpeg(), args, { signal, timeoutMs: repackMs });
    const frames = Number([...stdout.matchAll(/^frame=\s*(\d+)/gm)].at(-1)?.[1] ?? 0);
    const isWhole = code === 0 && (await sizeOf(mp4)) > 0;
    await rm(isWhole ? path : mp4, { force: true });
    const file = isWhole ? { path: mp4, mimeType: "video/mp4" } : { path, mimeType: "video/mp2t" };
    return { files: [{ kind: "video", ...file }], frames, lost: early };
  }
}

type Current = {
  options: RecordingOptions;
  path: string;
  file: WriteStream;
  bytes: number;
  isOver: boolean;
  fault?: Error;
};

const rejected = (why: string) => new DeviceError("ACTION_REJECTED", `This device ${why}.`);
