import { Readable } from "node:stream";
import { type RunningProgram, startProgram } from "../programs/run.ts";
import { pipes } from "./arguments.ts";
import { Cutter, endOfJpeg, endOfPgm, Lines, printedIn } from "./pieces.ts";
import { masked } from "./settings.ts";

/** What a program sends. Times are seconds of the stream's own clock. */
export type Receiver = {
  /** A small gray picture: a PGM file. */
  analysed(pgm: Buffer, seconds: number): void;
  pictured(jpeg: Buffer, seconds: number): void;
  seen(seconds: number): void;
  heard(seconds: number): void;
  noted(key: string, value: string, seconds: number): void;
  sounded(pcm: Buffer): void;
  recorded(bytes: Buffer): void;
  decoderError(): void;
  /** The picture has another size or format from here on. */
  reconfigured(): void;
};

/** `reason` is the last of what it complained of, without passwords. */
export type FfmpegRun = { ended: Promise<string>; end(): Promise<void>; said(): string };

/** Only decoders: what muxers and protocols complain of does not damage the picture. */
const decoderComplaint =
  /^\[(?:h264|hevc|mpeg2video|mpeg1video|mpeg4|vc1|vp8|vp9|av1|libdav1d|mjpeg) @ \S+\](?: \[\w+ @ \S+\])* \[error\]/;
const complaint = /\[(?:error|fatal|panic)\] (.+)/;
const mostSaid = 20;
/** Pictures whose time is not known yet. There are never so many, unless the program is broken. */
const mostWaiting = 500;

/** Starts ffmpeg and passes on everything that it sends. Throws what `startProgram` throws. */
export function runFfmpeg(
  path: string,
  args: readonly string[],
  receiver: Receiver,
  env: NodeJS.ProcessEnv = process.env,
): FfmpegRun {
  const program = startProgram(path, args, { env, pipes: pipes.recording - 2 });
  const said: string[] = [];
  const fail = (error: unknown) => {
    said.push(error instanceof Error ? error.message : String(error));
    void program.end(0);
  };
  const on = (pipe: number, take: (bytes: Buffer) => void) => {
    const stream = program.child.stdio[pipe];
    if (!(stream instanceof Readable)) return;
    stream.on("error", () => undefined);
    stream.on("data", (bytes: Buffer) => {
      try {
        take(bytes);
      } catch (error) {
        fail(error);
      }
    });
  };
  readPictures(on, receiver);
  readSound(on, receiver);
  on(pipes.recording, (bytes) => receiver.recorded(bytes));
  const lines = new Lines();
  on(2, (bytes) => {
    for (const line of lines.add(bytes)) {
      if (decoderComplaint.test(line)) receiver.decoderError();
      const text = complaint.exec(line)?.[1];
      if (text !== undefined) said.push(masked(text).slice(0, 4_000));
      if (said.length > mostSaid) said.shift();
    }
  });
  return { ended: ended(program, said), end: () => program.end(0), said: () => said.join("\n") };
}

type On = (pipe: number, take: (bytes: Buffer) => void) => void;

function readPictures(on: On, receiver: Receiver): void {
  const analysed = new Pairs((pgm, seconds) => receiver.analysed(pgm, seconds));
  const pictured = new Pairs((jpeg, seconds) => receiver.pictured(jpeg, seconds));
  const small = new Cutter(endOfPgm);
  const full = new Cutter(endOfJpeg);
  on(pipes.analysis, (bytes) => {
    for (const pgm of small.add(bytes)) analysed.picture(pgm);
  });
  on(pipes.pictures, (bytes) => {
    for (const jpeg of full.add(bytes)) pictured.picture(jpeg);
  });
  const noted = (key: string, value: string, seconds: number) => receiver.noted(key, value, seconds);
  let frames = 0;
  on(
    pipes.seen,
    printed(noted, (seconds, frame) => {
      // The filters count from 0 again after they were made anew.
      if (frame === 0 && frames > 0) receiver.reconfigured();
      frames++;
      receiver.seen(seconds);
      analysed.time(seconds);
    }),
  );
  on(
    pipes.shown,
    printed(
      () => undefined,
      (seconds) => pictured.time(seconds),
    ),
  );
}

function readSound(on: On, receiver: Receiver): void {
  on(
    pipes.heard,
    printed(
      (key, value, seconds) => receiver.noted(key, value, seconds),
      (seconds) => receiver.heard(seconds),
    ),
  );
  on(pipes.sound, (bytes) => receiver.sounded(bytes));
}

function printed(
  noted: (key: string, value: string, seconds: number) => void,
  began: (seconds: number, frame: number) => void,
): (bytes: Buffer) => void {
  const lines = new Lines();
  let seconds = 0;
  return (bytes) => {
    for (const line of lines.add(bytes)) {
      const found = printedIn(line);
      if (!found) continue;
      if ("key" in found) noted(found.key, found.value, seconds);
      else {
        seconds = found.seconds;
        began(seconds, found.frame);
      }
    }
  };
}

/** Pictures and their times, which come in the same order by two pipes. */
class Pairs {
  readonly #pictures: Buffer[] = [];
  readonly #times: number[] = [];
  readonly #give: (picture: Buffer, seconds: number) => void;

  constructor(give: (picture: Buffer, seconds: number) => void) {
    this.#give = give;
  }

  picture(picture: Buffer): void {
    this.#pictures.push(picture);
    this.#pair();
  }

  time(seconds: number): void {
    this.#times.push(seconds);
    this.#pair();
  }

  #pair(): void {
    if (this.#pictures.length > mostWaiting || this.#times.length > mostWaiting)
      throw new Error("ffmpeg sends pictures without times");
    while (this.#pictures.length > 0 && this.#times.length > 0) {
      const [picture, seconds] = [this.#pictures.shift(), this.#times.shift()];
      if (picture && seconds !== undefined) this.#give(picture, seconds);
    }
  }
}

function ended({ child }: RunningProgram, said: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const done = () => resolve(said.findLast((line) => !/^Conversion failed|^Error while /.test(line)) ?? "");
    child.once("error", done);
    // All that it wrote has been read by then.
    child.once("close", done);
  });
}
