import { DeviceError } from "../../errors.ts";
import { pause, withDeadline } from "../../waiting/deadlines.ts";
import { noAdb, serverDown } from "./failures.ts";
import { AdbSocket } from "./socket.ts";

/** A server takes up to 10 s to find that a device on the network does not answer. */
const answerMs = 12_000;

/** For a moment the server mistakes a closed connection for a live one and starts no new one. */
const mostConnects = 20;
const againMs = 100;

/** A device as adb lists it. `state` is adb's own word; `transport` numbers its connection and is never reused. */
export type Listed = { serial: string; state: string; transport: number; model?: string };

const states =
  "device|offline|unauthorized|authorizing|connecting|recovery|rescue|sideload|bootloader|host|detached|no permissions";
/** A serial stands in messages and commands: printable ASCII, as adb and USB have it. */
const line = new RegExp(`^([!-~]{1,200})\\s+(${states})\\b(.*)$`);
/** Further devices are left out. */
const mostDevices = 256;

export function parseDevices(text: string): Listed[] {
  const listed = text.split("\n").flatMap((one) => {
    const [, serial, state, rest = ""] = line.exec(one) ?? [];
    const transport = Number(/\btransport_id:(\d+)/.exec(rest)?.[1]);
    if (serial === undefined || state === undefined || Number.isNaN(transport)) return [];
    const model = /\bmodel:([!-~]{1,200})/.exec(rest)?.[1];
    return [{ serial, state, transport, ...(model !== undefined && { model }) }];
  });
  return listed.slice(0, mostDevices);
}

export async function listDevices(port: number, signal: AbortSignal): Promise<Listed[]> {
  return parseDevices((await ask(port, "host:devices-l", signal)) ?? "");
}

/** The server's version: 41 for 1.0.41. Throws ADB_SERVER_DOWN. */
export async function serverVersion(port: number, signal: AbortSignal): Promise<number> {
  const said = (await ask(port, "host:version", signal)) ?? "";
  if (!/^[\da-f]{1,4}$/i.test(said)) throw noAdb(port, "to host:version names no version");
  return Number.parseInt(said, 16);
}

/** Reconnects a device on the network. The result shows in the list of devices. */
export async function reconnect(port: number, address: string, signal: AbortSignal): Promise<void> {
  await ask(port, `host:disconnect:${address}`, signal).catch(() => undefined);
  signal.throwIfAborted();
  for (let left = mostConnects; left > 0; left--) {
    const said = await ask(port, `host:connect:${address}`, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (!said?.startsWith("already connected")) return;
    await pause(againMs, signal);
  }
}

/** The devices now and at every change, until the server ends. Throws ADB_SERVER_DOWN. */
export async function* trackDevices(port: number, signal: AbortSignal): AsyncGenerator<Listed[]> {
  const socket = await AdbSocket.open(port, signal, { background: true });
  try {
    await socket.request("host:track-devices-l");
    for (;;) {
      const text = await socket.readText();
      if (text === undefined) return;
      yield parseDevices(text);
    }
  } finally {
    socket.close();
  }
}

/** A port of this machine that leads to an endpoint of a device. */
export type Forward = { serial: string; port: number; remote: string };

/** What the server forwards to a device. */
export async function listForwards(port: number, serial: string, signal: AbortSignal): Promise<Forward[]> {
  const text = (await ask(port, "host:list-forward", signal)) ?? "";
  return text.split("\n").flatMap((line) => {
    const [owner = "", local = "", remote = ""] = line.split(" ");
    const own = Number(/^tcp:(\d+)$/.exec(local)?.[1]);
    return owner === serial && own > 0 ? [{ serial, port: own, remote }] : [];
  });
}

/** Throws ADB_SERVER_DOWN also for a forward that does not exist. */
export async function removeForward(
  port: number,
  { serial, port: local }: Pick<Forward, "serial" | "port">,
  signal: AbortSignal,
): Promise<void> {
  // It answers by a second OKAY, without a text.
  await using(port, signal, async (socket) => {
    await socket.request(`host-serial:${serial}:killforward:tcp:${local}`);
    await socket.read(4);
  });
}

/** Throws ADB_SERVER_DOWN also for a server that does not answer, or not as an adb server does. */
const ask = (port: number, service: string, signal: AbortSignal): Promise<string | undefined> =>
  using(port, signal, async (socket) => {
    await socket.request(service);
    return socket.readText();
  });

async function using<T>(
  port: number,
  signal: AbortSignal,
  use: (socket: AdbSocket) => Promise<T>,
): Promise<T> {
  const limit = withDeadline(signal, answerMs);
  try {
    const socket = await AdbSocket.open(port, limit.signal);
    try {
      return await use(socket);
    } finally {
      socket.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof DeviceError ? error : serverDown(port, error);
  } finally {
    limit.done();
  }
}
