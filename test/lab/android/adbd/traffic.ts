import { ByteQueue } from "./byteQueue.ts";

/** One stream that a host has opened: the same object for as long as it is open. */
export type OpenStream = { readonly service: string };

/** What passed between host and device. `received` and `sent` count all bytes of the connection, as the device sees it. */
export class Traffic {
  opens = 0;
  requests = 0;
  received = 0;
  sent = 0;
  readonly services: string[] = [];
  readonly #current = new Set<OpenStream>();

  /** Each opened stream is one, and so is each HTTP request on a forwarded stream. */
  get calls(): number {
    return this.opens + this.requests;
  }

  get current(): readonly OpenStream[] {
    return [...this.#current];
  }

  /** Returns what is called when the stream has ended. */
  opened(service: string): () => void {
    this.opens += 1;
    this.services.push(service);
    const entry = { service };
    this.#current.add(entry);
    return () => void this.#current.delete(entry);
  }

  reset(): void {
    this.opens = this.requests = this.received = this.sent = this.services.length = 0;
  }
}

const mostHeader = 64 * 1024;

/** Counts the HTTP requests in what a host sends; what is not HTTP counts none. */
export class RequestCounter {
  private readonly queue = new ByteQueue();
  private header = "";
  private bodyLeft = 0;
  private isOther = false;

  constructor(private readonly counted: () => void) {}

  push(bytes: Buffer): void {
    if (this.isOther) return;
    this.queue.push(bytes);
    while (this.queue.length > 0 && !this.isOther) {
      if (this.bodyLeft > 0) this.skipBody();
      else this.readHeader();
    }
  }

  private skipBody(): void {
    const skipped = Math.min(this.bodyLeft, this.queue.length);
    this.queue.take(skipped);
    this.bodyLeft -= skipped;
  }

  private readHeader(): void {
    const before = this.header.length;
    this.header += this.queue.take(this.queue.length)?.toString("latin1") ?? "";
    const end = this.header.indexOf("\r\n\r\n");
    if (end < 0) {
      this.isOther = this.header.length > mostHeader;
      return;
    }
    const rest = Buffer.from(this.header.slice(end + 4), "latin1");
    const header = this.header.slice(0, end);
    this.header = "";
    this.isOther = !/^[A-Z]+ \S+ HTTP\/1\.[01]\r/.test(`${header}\r`) || before > mostHeader;
    if (this.isOther) return;
    this.counted();
    this.bodyLeft = Number(/^content-length: *(\d+)/im.exec(header)?.[1] ?? 0);
    this.queue.push(rest);
  }
}
