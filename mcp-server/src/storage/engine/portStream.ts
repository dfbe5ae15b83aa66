import { Duplex } from "node:stream";
import type { MessagePort } from "node:worker_threads";

/** A socket in the eyes of node-postgres; the other end is a thread of this process. */
export class PortStream extends Duplex {
  private unsent: Uint8Array[] = [];

  constructor(private readonly port: MessagePort | undefined) {
    super();
    port?.on("message", (bytes: Uint8Array) => {
      this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    });
    port?.on("close", () => {
      this.push(null);
      this.destroy();
    });
  }

  /** Called by node-postgres in place of a socket's; without a port there is no engine any more. */
  connect(): this {
    queueMicrotask(() => {
      if (this.port === undefined) this.destroy(new Error("the embedded database has stopped"));
      else this.emit("connect");
    });
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.port?.ref();
    return this;
  }

  unref(): this {
    this.port?.unref();
    return this;
  }

  override _read(): void {}

  /** The driver writes a statement in four pieces; each message would wake the other thread. */
  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (this.unsent.push(chunk) === 1) queueMicrotask(() => this.send());
    done();
  }

  private send(): void {
    const bytes = new Uint8Array(Buffer.concat(this.unsent.splice(0)));
    if (bytes.length > 0) this.port?.postMessage(bytes, [bytes.buffer]);
  }

  override _final(done: () => void): void {
    this.send();
    this.port?.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.port?.close();
    done(error);
  }
}
