import type { StreamEventKind } from "../ports.ts";

type Facts = Readonly<Record<string, string | number>>;

/** In seconds of the stream's own clock. */
export type Detected = { kind: StreamEventKind; from: number; until?: number; facts?: Facts };

/** What lasts for less is not reported. */
export const leastSeconds = { black: 0.2, freeze: 0.5, silence: 0.5 } as const;
/** Errors of the decoder in a row that are an event. */
const leastErrors = 5;
/** Sound that lags behind the picture by more than this has stopped. */
const soundLateSeconds = 2;
/** Where ffmpeg starts a freeze: a frame before the picture that stands still, at most. */
const frameSeconds = 0.1;
/** A decoder without an error for so long works again. */
const calmSeconds = 1;
/** A stream that is entered in its middle has errors until its first whole picture. */
const enteringSeconds = 1;

/**
 * Makes events of what ffmpeg's filters say of frames. `changed` gets an event when it is known to go on, and again when it
 * ended. A black picture is not a freeze as well.
 */
export class Detector {
  readonly #changed: (event: Detected) => void;
  readonly #going = new Map<StreamEventKind, Detected>();
  #black: { from: number; until?: number } | undefined;
  #seen: number | undefined;
  #began: number | undefined;
  #heard: number | undefined;
  #soundStopped = false;
  #errors = { from: 0, last: 0, lines: 0 };

  constructor(changed: (event: Detected) => void) {
    this.#changed = changed;
  }

  /** A frame of the picture. */
  see(seconds: number): void {
    this.#began ??= seconds;
    this.#seen = seconds;
    const black = this.#black;
    if (black && black.until === undefined && seconds - black.from >= leastSeconds.black)
      this.#begin({ kind: "black", from: black.from });
    if (this.#errors.lines > 0 && seconds - this.#errors.last > calmSeconds) this.#calm(this.#errors.last);
    if (this.#heard === undefined || seconds - this.#heard <= soundLateSeconds || this.#soundStopped) return;
    this.#soundStopped = true;
    this.#begin({ kind: "silence", from: this.#heard, facts: { cause: "sound stopped" } });
  }

  /** About 100 ms of sound. */
  hear(seconds: number): void {
    this.#heard = seconds;
    if (!this.#soundStopped) return;
    this.#soundStopped = false;
    this.#end("silence", seconds);
  }

  /** What a filter says of the frame at `seconds`. */
  note(key: string, value: string, seconds: number): void {
    const at = Number(value);
    if (!Number.isFinite(at)) return;
    if (key === "lavfi.black_start") this.#black = { from: at };
    else if (key === "lavfi.black_end") this.#endBlack(at);
    else if (key === "lavfi.freezedetect.freeze_start") this.#freeze(at);
    else if (key === "lavfi.freezedetect.freeze_end") this.#end("freeze", at);
    else if (key.startsWith("lavfi.silence_start")) this.#begin({ kind: "silence", from: Math.max(0, at) });
    else if (key.startsWith("lavfi.silence_end")) this.#end("silence", at);
    else if (key === "lavfi.scd.time") this.#changed({ kind: "cut", from: seconds, until: seconds });
  }

  /** An error of the decoder, near the newest frame. */
  decoderError(): void {
    const at = this.#seen;
    if (at === undefined || at - (this.#began ?? at) < enteringSeconds) return;
    const { lines, from } = this.#errors;
    this.#errors = { from: lines === 0 ? at : from, last: at, lines: lines + 1 };
    if (this.#errors.lines >= leastErrors) this.#begin({ kind: "decoder_error", from: this.#errors.from });
  }

  /** The stream ended: nothing goes on any more. */
  stop(): void {
    const at = this.#seen;
    if (at === undefined) return;
    this.#calm(at);
    for (const kind of [...this.#going.keys()]) this.#end(kind, at);
    this.#black = undefined;
  }

  #endBlack(at: number): void {
    if (this.#black) this.#black.until = at;
    this.#end("black", at);
  }

  #freeze(from: number): void {
    const black = this.#black;
    const isBlack =
      black && from >= black.from - frameSeconds && from < (black.until ?? Number.POSITIVE_INFINITY);
    if (!isBlack) this.#begin({ kind: "freeze", from });
  }

  #calm(at: number): void {
    const { lines } = this.#errors;
    this.#errors = { from: 0, last: 0, lines: 0 };
    this.#end("decoder_error", at, { lines });
  }

  #begin(event: Detected): void {
    if (this.#going.has(event.kind)) return;
    this.#going.set(event.kind, event);
    this.#changed(event);
  }

  #end(kind: StreamEventKind, until: number, facts?: Facts): void {
    const event = this.#going.get(kind);
    if (!event) return;
    this.#going.delete(kind);
    this.#changed({ ...event, until: Math.max(event.from, until), ...(facts && { facts }) });
  }
}
