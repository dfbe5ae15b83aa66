import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { DeviceError } from "../../errors.ts";
import { AdbRefusal, noAdb, serverDown } from "./failures.ts";

const lengthDigits = 4;
const longestRequest = 16 ** lengthDigits - 1;

/** A connection to this machine's adb server. When `signal` aborts, reads and writes fail with its reason. */
export class AdbSocket {
  readonly #port: number;
  readonly #socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #stop: () => void;
  #buffered: Buffer = Buffer.alloc(0);

  private constructor(port: number, socket: Socket, signal: AbortSignal) {
    this.#port = port;
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
    const abort = () => socket.destroy(asError(signal.reason));
    signal.addEventListener("abort", abort, { once: true });
    this.#stop = () => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
    };
  }

  /** Throws ADB_SERVER_DOWN. `background`: it does not keep this process running. */
  static async open(
    port: number,
    signal: AbortSignal,
    { background = false }: { background?: boolean } = {},
  ): Promise<AdbSocket> {
    signal.throwIfAborted();
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    if (background) socket.unref();
    // A pending read gets the error; between reads it is not needed.
    socket.on("error", () => undefined);
    try {
      await once(socket, "connect", { signal });
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw serverDown(port, error);
    }
    return new AdbSocket(port, socket, signal);
  }

  /** Asks for a service; returns when the server has accepted it. Throws AdbRefusal with what it said, ADB_SERVER_DOWN when something else answers. */
  async request(service: string): Promise<void> {
    this.#socket.write(frame(service));
    const status = (await this.read(4))?.toString("latin1");
    if (status === "OKAY") return;
    if (status === "FAIL") throw new AdbRefusal((await this.readText()) ?? "");
    if (status === undefined) throw new AdbRefusal("closed");
    throw noAdb(this.#port, "began neither with OKAY nor with FAIL");
  }

  /** Reads exactly so many bytes; undefined when the connection ended before. */
  async read(size: number): Promise<Buffer | undefined> {
    const parts = [this.#buffered];
    let length = this.#buffered.length;
    while (length < size) {
      const { done, value } = await this.#chunks.next();
      if (done) return undefined;
      parts.push(value);
      length += value.length;
    }
    const all = parts.length === 1 ? this.#buffered : Buffer.concat(parts);
    this.#buffered = all.subarray(size);
    return all.subarray(0, size);
  }

  /** Reads a text after its length in four hexadecimal digits; undefined when the connection ended. Throws ADB_SERVER_DOWN. */
  async readText(): Promise<string | undefined> {
    const length = (await this.read(lengthDigits))?.toString("latin1");
    if (length === undefined) return undefined;
    if (!/^[\da-f]{4}$/i.test(length)) throw noAdb(this.#port, "has no length before its text");
    return (await this.read(Number.parseInt(length, 16)))?.toString("utf8");
  }

  /** Waits while the server is slower. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#socket.destroyed || this.#socket.write(bytes)) return;
    const drained = once(this.#socket, "drain").catch(() => undefined);
    await Promise.race([drained, once(this.#socket, "close").catch(() => undefined)]);
  }

  close(): void {
    this.#stop();
  }
}

/** A request as the server reads it: its length in hexadecimal digits before it. */
export function frame(service: string): Buffer {
  const bytes = Buffer.from(service);
  if (bytes.length > longestRequest)
    throw new DeviceError(
      "INVALID_PARAMS",
      `A command line for a device has at most ${longestRequest} bytes, and this one has ${bytes.length}. Give it less.`,
    );
  return Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(lengthDigits, "0")), bytes]);
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
