import { Transform, type TransformCallback } from "node:stream";

/** Chromium takes heads of 256 KB at most. */
const longestHeads = 300_000;
/** With the usual 16 KB, each chunk of a large file would stop the server. */
const mostWaiting = 512_000;

/**
 * Passes on what a server answers by plain HTTP, except a 407, with which the stream fails: only a proxy may send it, and Chromium
 * would forget the password of ours.
 */
export class Answers extends Transform {
  #heads: Buffer | undefined;

  constructor() {
    super({ highWaterMark: mostWaiting });
  }

  /** The next bytes are the beginning of an answer. */
  begin(): void {
    this.#heads = Buffer.alloc(0);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (this.#heads === undefined) {
      done(null, chunk);
      return;
    }
    this.#heads = Buffer.concat([this.#heads, chunk]);
    const status = finalStatus(this.#heads.toString("latin1", 0, longestHeads));
    const isLong = this.#heads.length >= longestHeads;
    if (status === 407 || (status === undefined && isLong)) done(new Error("not an answer for the browser"));
    else if (status === undefined) done();
    else this._flush(done);
  }

  /** A server may end within a head, which is the browser's to judge. */
  override _flush(done: TransformCallback): void {
    const heads = this.#heads;
    this.#heads = undefined;
    done(null, heads);
  }
}

/** The status after all heads of 1xx, read as generously as browsers do; 0 for other text, undefined while more is needed. */
function finalStatus(text: string): number | undefined {
  const [line] = /^.{0,4}?http[^\n]*\n/is.exec(text) ?? [];
  if (line === undefined) return /^.{0,4}?http|^.{0,7}$/is.test(text) ? undefined : 0;
  const status = Number(/http\S* +(\d+)/i.exec(line)?.[1] ?? 0);
  if (status < 100 || status > 199 || status === 101) return status;
  const [head] = /^.*?\n\r?\n/s.exec(text.slice(line.length - 1)) ?? [];
  return head === undefined ? undefined : finalStatus(text.slice(line.length - 1 + head.length));
}
