import { Duplex } from "node:stream";
import type { MessagePort } from "node:worker_threads";

/** A socket in the eyes of node-postgres; the other end is a thread of this process. */
export class PortStream extends Duplex {
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

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    const copy = new Uint8Array(chunk);
    this.port?.postMessage(copy, [copy.buffer]);
    done();
  }

  override _final(done: () => void): void {
    this.port?.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.port?.close();
    done(error);
  }
}
