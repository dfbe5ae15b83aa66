/** Where a picture that begins at 0 ends; undefined while it is not complete. */
type EndOf = (bytes: Buffer, searched: number) => number | undefined;

/** A stream that is longer than this without an end is not a picture. */
const mostBytes = 32 * 1024 * 1024;

/** Cuts a stream of bytes into pictures. Throws when there is no picture in 32 MB. */
export class Cutter {
  #bytes: Buffer = Buffer.alloc(0);
  readonly #endOf: EndOf;

  constructor(endOf: EndOf) {
    this.#endOf = endOf;
  }

  *add(chunk: Buffer): Generator<Buffer> {
    let searched = Math.max(0, this.#bytes.length - 1);
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    for (let end = this.#endOf(this.#bytes, searched); end !== undefined; end = this.#endOf(this.#bytes, 0)) {
      searched = 0;
      yield this.#bytes.subarray(0, end);
      this.#bytes = this.#bytes.subarray(end);
    }
    if (this.#bytes.length > mostBytes) throw new Error("ffmpeg sent data that is not a picture");
  }
}

const endOfImage = Buffer.from([0xff, 0xd9]);

/** In a JPEG's data, FF is followed by 00, so that the marker of its end is nowhere else. */
export function endOfJpeg(bytes: Buffer, searched: number): number | undefined {
  const at = bytes.indexOf(endOfImage, searched);
  return at < 0 ? undefined : at + 2;
}

/** Of a PGM as ffmpeg writes it: P5, the size, 255, each in a line. */
export function sizeOfPgm(bytes: Buffer): { width: number; height: number; header: number } | undefined {
  const found = /^P5\n(\d{1,5}) (\d{1,5})\n255\n/.exec(bytes.toString("latin1", 0, 24));
  return found ? { width: Number(found[1]), height: Number(found[2]), header: found[0].length } : undefined;
}

export function endOfPgm(bytes: Buffer): number | undefined {
  const size = sizeOfPgm(bytes);
  const end = size && size.header + size.width * size.height;
  return end === undefined || end > bytes.length ? undefined : end;
}

/** By its baseline or progressive frame header; undefined where there is none. */
export function sizeOfJpeg(bytes: Buffer): { width: number; height: number } | undefined {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xc2)
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return undefined;
}

/** Lines of a stream; a longer one than 64 kB is cut. */
export class Lines {
  #rest = "";

  add(chunk: Buffer): string[] {
    const lines = (this.#rest + chunk.toString("utf8")).split("\n");
    this.#rest = (lines.pop() ?? "").slice(-65_536);
    return lines;
  }
}

/** A line of the filters `metadata` and `ametadata`: a frame begins at a time in seconds, or says something. */
export type Printed = { frame: number; seconds: number } | { key: string; value: string };

export function printedIn(line: string): Printed | undefined {
  const frame = /^frame:(\d+)\s+pts:\S+\s+pts_time:(-?[\d.]+(?:e[-+]?\d+)?)/.exec(line);
  if (frame) return { frame: Number(frame[1]), seconds: Number(frame[2]) };
  const at = line.indexOf("=");
  return at > 0 ? { key: line.slice(0, at), value: line.slice(at + 1) } : undefined;
}
