import { open } from "node:fs/promises";

const chunkBytes = 262_144;
const newline = 10;

/** The lines of a file, last first, from its last `maxBytes`; a line that this bound cuts in two is left out. */
export async function* linesFromEnd(file: string, maxBytes: number): AsyncGenerator<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const stop = Math.max(0, size - maxBytes);
    /** What is known of the line that goes on before the chunk. */
    let tail: Buffer[] = [];
    for (let from = size; from > stop; ) {
      const until = from;
      from = Math.max(stop, until - chunkBytes);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(until - from), 0, until - from, from);
      let rest = buffer.subarray(0, bytesRead);
      for (let cut = rest.lastIndexOf(newline); cut >= 0; cut = rest.lastIndexOf(newline)) {
        yield Buffer.concat([rest.subarray(cut + 1), ...tail]).toString("utf8");
        tail = [];
        rest = rest.subarray(0, cut);
      }
      tail.unshift(rest);
    }
    if (stop === 0) yield Buffer.concat(tail).toString("utf8");
  } finally {
    await handle.close();
  }
}
