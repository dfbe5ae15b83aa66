import { Duplex } from "node:stream";
import type { Packet } from "./packets.ts";

export type StreamLink = {
  mostData: number;
  send(packet: Omit<Packet, "data"> & { data?: Buffer }): void;
  forget(localId: number): void;
};

type Done = (error?: Error | null) => void;

/**
 * One of the streams of a connection. Each side may have one packet under way: the next one waits for the other side's OKAY,
 * and ours is sent when the data was read. `gone` aborts when the host closed it or the connection ended.
 */
export class AdbStream extends Duplex {
  private readonly ending = new AbortController();
  private acknowledged: (() => void) | undefined;
  private owesOkay = false;
  private isClosed = false;
  private isOpen = false;

  constructor(
    private readonly link: StreamLink,
    private readonly localId: number,
    private readonly remoteId: number,
  ) {
    super();
    this.on("error", () => undefined);
  }

  get gone(): AbortSignal {
    return this.ending.signal;
  }

  accept(): void {
    this.isOpen = true;
    this.okay();
  }

  refuse(): void {
    this.close(0);
    this.destroy();
  }

  receive(data: Buffer): void {
    if (this.isClosed) return;
    if (this.push(data)) this.okay();
    else this.owesOkay = true;
  }

  receiveOkay(): void {
    const resolve = this.acknowledged;
    this.acknowledged = undefined;
    resolve?.();
  }

  /** The host closed it, or there is no connection any more. What is written from now on goes nowhere. */
  receiveClose(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.ending.abort();
    this.push(null);
    this.receiveOkay();
    this.link.forget(this.localId);
  }

  override _read(): void {
    if (!this.owesOkay) return;
    this.owesOkay = false;
    this.okay();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    void this.sendAll(chunk).then(() => done(), done);
  }

  override _final(done: Done): void {
    this.close(this.localId);
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.close(this.localId);
    done(error);
  }

  private async sendAll(chunk: Buffer): Promise<void> {
    const { mostData } = this.link;
    for (let from = 0; from < chunk.length && !this.isClosed; from += mostData) {
      const answered = new Promise<void>((resolve) => {
        this.acknowledged = resolve;
      });
      this.packet("WRTE", this.localId, chunk.subarray(from, from + mostData));
      await answered;
    }
  }

  private okay(): void {
    if (!this.isClosed) this.packet("OKAY", this.localId);
  }

  private close(localId: number): void {
    if (this.isClosed) return;
    this.packet("CLSE", this.isOpen ? localId : 0);
    this.receiveClose();
  }

  private packet(command: string, localId: number, data?: Buffer): void {
    this.link.send({ command, arg0: localId, arg1: this.remoteId, ...(data && { data }) });
  }
}

export function writeTo(stream: AdbStream, bytes: Uint8Array | string): Promise<void> {
  if (stream.writableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => stream.write(Buffer.from(bytes), () => resolve()));
}

/** What arrives, without closing the stream when the reader stops before its end. */
export const bytesOf = (stream: AdbStream): AsyncIterable<Buffer> =>
  stream.iterator({ destroyOnReturn: false });
