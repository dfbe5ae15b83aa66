/** Bytes from one command to the next. It holds what was not read yet. */
export class Pipe implements AsyncIterable<Uint8Array> {
  private readonly parts: Uint8Array[] = [];
  private isEnded = false;
  private wake: () => void = () => undefined;

  push(bytes: Uint8Array | string): void {
    this.parts.push(Buffer.from(bytes));
    this.wake();
  }

  end(): void {
    this.isEnded = true;
    this.wake();
  }

  drain(): Buffer {
    return Buffer.concat(this.parts.splice(0));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const part = this.parts.shift();
      if (part) yield part;
      else if (this.isEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }
}
