/** Bytes that arrive in any pieces and are taken in pieces of a known length. */
export class ByteQueue {
  private readonly parts: Buffer[] = [];
  private held = 0;

  get length(): number {
    return this.held;
  }

  push(part: Buffer): void {
    if (part.length === 0) return;
    this.parts.push(part);
    this.held += part.length;
  }

  take(count: number): Buffer | undefined {
    if (this.held < count) return undefined;
    this.held -= count;
    const taken: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const part = this.parts.shift();
      if (part === undefined) break;
      taken.push(part.subarray(0, left));
      if (part.length > left) this.parts.unshift(part.subarray(left));
      left -= part.length;
    }
    return taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken);
  }
}

export class ByteReader {
  private readonly queue = new ByteQueue();
  private readonly source: AsyncIterator<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  async read(count: number): Promise<Buffer | undefined> {
    for (;;) {
      const taken = this.queue.take(count);
      if (taken) return taken;
      const next = await this.source.next();
      if (next.done === true) return undefined;
      this.queue.push(Buffer.from(next.value));
    }
  }
}
