/** Bytes of a message that say what it is. */
const HEAD = 200;
/** Bytes of a message in which the name of its session stands, if that is at its end. */
const TAIL = 200;

/** Pictures, PDF files and bodies. A full-page picture of photographs takes 30 MB. */
const LONGEST_DATA = 64_000_000;
/** The agent's longest answer has 10 million characters, of up to three bytes each. */
const LONGEST_ANSWER = 32_000_000;
const LONGEST_EVENT = 1_000_000;
/** Playwright keeps the last 200 lines of a console. */
const LONGEST_TEXT = 128_000;
/** Shorter strings are never cut: names, ids and what the browser says of itself. */
const SHORTEST_CUT = 256;

/** What is done with a message of more than `longest` bytes. */
type Limit = { longest: number; over: "refuse" | "drop" | "cut" };

function limitOf(head: string): Limit {
  if (head.startsWith('{"id":'))
    return { longest: head.includes('"result":{"data":"') ? LONGEST_DATA : LONGEST_ANSWER, over: "refuse" };
  const method = /"method":"([\w.]+)"/.exec(head)?.[1] ?? "";
  if (/screencastFrame$/i.test(method)) return { longest: LONGEST_DATA, over: "drop" };
  const isText = /^(Runtime|Log)\.|dialog|error/i.test(method);
  return { longest: isText ? LONGEST_TEXT : LONGEST_EVENT, over: "cut" };
}

/**
 * Bounds what a browser sends: JSON messages of DevTools or of Playwright's Firefox, each with a zero byte after it. A page decides how
 * long a line of its console, an error, a dialog or an address is. Of an event that is too long, the long strings are cut. A reply
 * that is too long becomes an error of its request.
 */
export class BoundedMessages {
  #message = new Message();

  /** What may pass on, in order: whole messages, in pieces. */
  push(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      this.#message.add(chunk.subarray(start, end));
      const pieces = this.#message.end();
      if (pieces.length > 0) passed.push(...pieces, chunk.subarray(end, end + 1));
      this.#message = new Message();
      start = end + 1;
    }
    if (start < chunk.length) this.#message.add(chunk.subarray(start));
    return passed;
  }
}

class Message {
  #pieces: Buffer[] = [];
  #size = 0;
  #limit: Limit | undefined;
  #cutter: Cutter | undefined;
  #head = "";
  #tail: Buffer = Buffer.alloc(0);

  add(piece: Buffer): void {
    if (this.#head.length < HEAD) this.#head += piece.toString("latin1", 0, HEAD);
    this.#size += piece.length;
    this.#limit ??= this.#size < HEAD ? undefined : limitOf(this.#head);
    if (this.#limit === undefined || this.#size <= this.#limit.longest) this.#pieces.push(piece);
    else this.#shorten(piece, this.#limit);
  }

  end(): Buffer[] {
    if (this.#limit === undefined || this.#size <= this.#limit.longest) return this.#pieces;
    return this.#cutter?.end() ?? (this.#limit.over === "refuse" ? [this.#refusal()] : []);
  }

  #shorten(piece: Buffer, { longest, over }: Limit): void {
    if (over === "cut") {
      this.#cutter ??= new Cutter(longest);
      for (const one of [...this.#pieces, piece]) this.#cutter.push(one);
    } else this.#tail = Buffer.concat([this.#tail, piece.subarray(-TAIL)]).subarray(-TAIL);
    this.#pieces = [];
  }

  #refusal(): Buffer {
    const id = Number(/^\{"id":(\d+)/.exec(this.#head)?.[1]);
    const { sessionId } =
      /^\{"id":\d+,"sessionId":"(?<sessionId>[\w-]+)"/.exec(this.#head)?.groups ??
      /,"sessionId":"(?<sessionId>[\w-]+)"\}$/.exec(this.#tail.toString("latin1"))?.groups ??
      {};
    const message = `the answer has ${this.#size} bytes, which is too much to read`;
    const refusal = this.#head.includes('"result":{"result":{')
      ? threw(message)
      : { error: { code: -32_000, message } };
    return Buffer.from(JSON.stringify({ id, ...refusal, sessionId }));
  }
}

/** Playwright takes any other error of an evaluation for a navigation. */
function threw(text: string): object {
  const exception = { type: "object", subtype: "error", description: `Error: ${text}` };
  const exceptionDetails = { exceptionId: 0, text, lineNumber: 0, columnNumber: 0, exception };
  return { result: { result: { type: "undefined" }, exceptionDetails } };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** Cuts long strings in JSON: each to half of the bytes that are left of the message's limit. */
class Cutter {
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isInString = false;
  /** Bytes that the string may still have. */
  #left = 0;
  #isCut = false;
  #skipped = 0;
  /** Of an escape sequence: how many hexadecimal digits are to come; -1 after its backslash. */
  #escape = 0;

  constructor(private readonly longest: number) {}

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length; )
      at = this.#isInString ? this.#goThrough(piece, at) : this.#goToString(piece, at);
  }

  /** Nothing where even the shortened message is too long. */
  end(): Buffer[] {
    return this.#keptBytes > 2 * this.longest ? [] : this.#kept;
  }

  #goToString(piece: Buffer, from: number): number {
    const quote = piece.indexOf(QUOTE, from);
    const end = quote === -1 ? piece.length : quote + 1;
    this.#keep(piece.subarray(from, end));
    this.#isInString = quote !== -1;
    this.#isCut = false;
    this.#skipped = 0;
    this.#left = Math.max(SHORTEST_CUT, (this.longest - this.#keptBytes) / 2);
    return end;
  }

  #goThrough(piece: Buffer, from: number): number {
    // Not within a character or an escape sequence.
    this.#isCut ||= this.#left <= 0 && this.#escape === 0 && ((piece[from] ?? 0) & 0xc0) !== 0x80;
    const until = this.#isCut
      ? piece.length
      : Math.min(piece.length, from + Math.max(1, Math.ceil(this.#left)));
    const at = this.#findEnd(piece, from, until);
    if (this.#isCut) this.#skipped += at - from;
    else this.#keep(piece.subarray(from, at));
    this.#left -= at - from;
    if (at === until) return at;
    if (this.#skipped > 0) this.#keep(Buffer.from(`… ${this.#skipped} bytes more`));
    this.#keep(piece.subarray(at, at + 1));
    this.#isInString = false;
    return at + 1;
  }

  /** Where the string's last quote is; `until` if it is not before. */
  #findEnd(piece: Buffer, from: number, until: number): number {
    let digits = this.#escape;
    let at = from;
    for (; at < until; at++) {
      const byte = piece[at];
      if (digits > 0) digits--;
      else if (digits < 0) digits = byte === LETTER_U ? 4 : 0;
      else if (byte === BACKSLASH) digits = -1;
      else if (byte === QUOTE) break;
    }
    this.#escape = digits;
    return at;
  }

  /** As a copy: a part of a chunk would hold all of it. */
  #keep(part: Buffer): void {
    this.#keptBytes += part.length;
    if (this.#keptBytes > 2 * this.longest) this.#kept = [];
    else if (part.length > 0) this.#kept.push(Buffer.from(part));
  }
}
