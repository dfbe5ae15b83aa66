/** One server as a host's file has it. */
export type Entry = Readonly<Record<string, unknown>>;

/** The place of an entry: the container at the top, and the server's name in it. */
export type EntryPath = readonly [container: string, name: string];

/** One file format. Texts have no byte order mark; an empty one is an empty object. */
export type Format = {
  /** Throws BrokenFile. */
  parse(text: string): unknown;
  /**
   * The text with `value` at `path`, or without it when `value` is undefined: one or more tries, the one that leaves most of
   * the text alone first. `text` parses.
   */
  edits(text: string, path: EntryPath, value: Entry | undefined): Iterable<string>;
};

/** A file that cannot be read or changed safely. `line` counts from 1. */
export class BrokenFile extends Error {
  constructor(
    message: string,
    readonly line?: number,
  ) {
    super(message);
    this.name = "BrokenFile";
  }
}

/** An object of string keys, as every format gives. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The line break of a text: that of Windows when it has one. */
export function lineBreak(text: string): "\n" | "\r\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
