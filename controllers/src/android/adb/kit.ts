import type { DeviceClient } from "@devicefarmer/adbkit";
import { DeviceError } from "../../errors.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import { transportLost } from "./failures.ts";
import { frame } from "./socket.ts";

type Place = { port: number; serial: string; transport: number };

/** The used part of adbkit's connection. Its own types need those of Bluebird, which it does not ship. */
type Conversation = {
  socket: { destroy(): void };
  write(bytes: Buffer): unknown;
  parser: {
    readAscii(size: number): PromiseLike<string>;
    readBytes(size: number): PromiseLike<Buffer>;
    readError(): PromiseLike<never>;
  };
};

/** Loaded with the first file that is sent. In Node this package has a default export only; bundles have named exports too. */
async function loadKit() {
  const kit = await import("@devicefarmer/adbkit");
  return kit.Adb ?? kit.default.Adb;
}

/**
 * Runs `work` with adbkit's client of one device. Each of its connections is bound to this transport, and is closed when the
 * work ends, at its deadline, and when `signal` aborts. Throws DEVICE_ERROR at its deadline, TRANSPORT_LOST for another transport, and what `work` throws.
 */
export async function withKit<T>(
  { port, serial, transport }: Place,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (device: DeviceClient) => PromiseLike<T>,
): Promise<T> {
  const limit = withDeadline(signal, timeoutMs);
  const ends: (() => void)[] = [];
  try {
    const Adb = await loadKit();
    // With no program, so that it starts no server.
    const client = Adb.createClient({ host: "127.0.0.1", port, bin: "" });
    client.on("error", () => undefined);
    const device = client.getDevice(serial);
    device.transport = () =>
      client.connection().then(async (connection: Conversation) => {
        ends.push(() => connection.socket.destroy());
        connection.write(frame(`host:tport:serial:${serial}`));
        const { parser } = connection;
        if ((await parser.readAscii(4)) !== "OKAY") return parser.readError();
        const chosen = await parser.readBytes(8);
        if (chosen.readBigUInt64LE() !== BigInt(transport)) throw transportLost(serial);
        return connection;
      });
    return await untilAborted(Promise.resolve(work(device)), limit.signal);
  } catch (error) {
    signal.throwIfAborted();
    throw limit.over() ? late(serial, timeoutMs) : error;
  } finally {
    limit.done();
    for (const end of ends) end();
  }
}

const late = (serial: string, timeoutMs: number) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The file did not reach ${serial} within ${timeoutMs} ms, and sending it was stopped. Give it more time with timeout_ms.`,
  );
