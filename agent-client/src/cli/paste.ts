import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { maxInputLetters } from "./input.ts";
import { plain } from "./plain.ts";

// Bracketed paste: a terminal that is asked to puts these around what is pasted.
const begin = "\u001b[200~";
const end = "\u001b[201~";
export const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" } as const;

/** A longer paste stands in the line as a mark: a line editor takes a letter at a time, and each costs the whole line. */
const maxInline = 300;

type Keyboard = { setRawMode?(mode: boolean): unknown };

/**
 * Keys on their way to the line editor, in which a pasted text of several lines is a mark in the line, `[pasted 1: 12
 * lines]`, until `restore` puts the text in its place. Otherwise each of its lines would be a message.
 */
export class PasteFilter extends Transform {
  isRaw = false;
  readonly #decoder = new StringDecoder("utf8");
  readonly #marks = new Map<string, string>();
  #held = "";
  #pasted: string | undefined;

  constructor(readonly keyboard: Keyboard = {}) {
    super({ decodeStrings: true });
    this.setEncoding("utf8");
  }

  /** The line editor asks its input for it, as it would ask a terminal. */
  setRawMode(mode: boolean): this {
    this.isRaw = mode;
    this.keyboard.setRawMode?.(mode);
    return this;
  }

  /** The line as it was meant; the marks are used up. */
  restore(line: string): string {
    let text = line;
    for (const [mark, pasted] of this.#marks) text = text.replace(mark, () => pasted);
    this.#marks.clear();
    return text;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let text = this.#held + this.#decoder.write(chunk);
    this.#held = "";
    while (text !== "") text = this.#pasted === undefined ? this.#typed(text) : this.#inPaste(text);
    done();
  }

  /** Gives back what is still to be read. */
  #typed(text: string): string {
    const at = text.indexOf(begin);
    if (at >= 0) {
      this.push(text.slice(0, at));
      this.#pasted = "";
      return text.slice(at + begin.length);
    }
    // The escape key alone is no begun mark: it would be held until the next key.
    const cut = cutMark(text, begin, 2);
    this.#held = text.slice(cut);
    this.push(text.slice(0, cut));
    return "";
  }

  #inPaste(text: string): string {
    // A paste that has lost its end must not keep Ctrl-C.
    if (text === "\u0003") {
      this.#pasted = undefined;
      return text;
    }
    const at = text.indexOf(end);
    const cut = at >= 0 ? at : cutMark(text, end, 1);
    this.#pasted = `${this.#pasted ?? ""}${text.slice(0, cut)}`.slice(0, maxInputLetters);
    if (at < 0) {
      this.#held = text.slice(cut);
      return "";
    }
    this.push(this.#marked(plain(this.#pasted)));
    this.#pasted = undefined;
    return text.slice(at + end.length);
  }

  #marked(pasted: string): string {
    const text = pasted.replace(/\n+$/, "");
    if (text.length <= maxInline && !text.includes("\n")) return text;
    const lines = text.split("\n").length;
    const mark = `[pasted ${this.#marks.size + 1}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
    this.#marks.set(mark, text);
    return mark;
  }
}

/** Where the last letters of `text` begin a mark that the next chunk may end; its length when they do not. */
function cutMark(text: string, mark: string, least: number): number {
  for (let length = Math.min(mark.length - 1, text.length); length >= least; length--)
    if (text.endsWith(mark.slice(0, length))) return text.length - length;
  return text.length;
}
