import type { Socket } from "node:net";
import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { findKeyCode, keyNames } from "../phones/androidKeys.ts";
import { startAdbServer } from "../programs/adb.ts";
import { untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { offline, refused, silent, unauthorized } from "../wire/failures.ts";
import { anywhere, connectTo } from "../wire/sockets.ts";
import { type Access, defineRemote } from "./remote.ts";
import { keyMap, keysSchema, portSchema } from "./settings.ts";

const settings = z
  .strictObject({
    serial: z
      .string()
      .regex(/^[\w.:[\]-]{1,200}$/)
      .optional()
      .describe("As adb devices lists it."),
    address: z
      .string()
      .regex(/^(?:[A-Za-z0-9][\w.-]{0,250}|\[[0-9A-Fa-f:.]{2,45}\]):\d{1,5}$/)
      .optional()
      .describe("host:port of a device on the network, such as 192.168.1.40:5555."),
    adb_port: portSchema
      .optional()
      .describe("Of the adb server. Default: ANDROID_ADB_SERVER_PORT, else 5037."),
    keys: keysSchema(/^\w{1,60}$/),
  })
  .refine(({ serial, address }) => (serial === undefined) !== (address === undefined), {
    message: "give serial or address",
  });
type Settings = z.output<typeof settings>;

/** `input keyevent` starts a process on the device, which takes up to some seconds on a slow one. */
const answerMs = 10_000;
const mostBytes = 10_000;

/** Asks an adb server for services, one after another on one connection, and returns what the last one wrote. */
async function askServer(
  socket: Socket,
  services: readonly string[],
  failure: (said: string) => DeviceError,
): Promise<string> {
  const parts: AsyncIterator<string> = socket.setEncoding("latin1")[Symbol.asyncIterator]();
  let text = "";
  /** Also returns when the connection ends. */
  const readTo = async (bytes: number) => {
    while (text.length < bytes) {
      const { value, done } = await parts.next();
      if (done) return;
      text += value;
    }
  };
  for (const service of services) {
    socket.write(service.length.toString(16).padStart(4, "0") + service);
    await readTo(4);
    const isTaken = text.startsWith("OKAY");
    text = text.slice(4);
    if (isTaken) continue;
    await readTo(mostBytes);
    throw failure(text.slice(4));
  }
  await readTo(mostBytes);
  return text;
}

async function connect({ serial, address, adb_port }: Settings, { isDoctor }: Access, signal: AbortSignal) {
  const target = address ?? serial ?? "";
  const port = adb_port ?? Number(process.env.ANDROID_ADB_SERVER_PORT || 5037);
  const server = { name: `the adb server on port ${port}`, check: "Run: adb start-server" };
  const place = {
    name: target,
    check: "Switch it on and allow USB or network debugging; adb devices lists it.",
  };
  const failure = (said: string) =>
    /unauthorized/i.test(said)
      ? unauthorized(place, "it does not trust this computer", 'Accept "Allow USB debugging?" on its screen.')
      : offline(place, said.slice(0, 200) || "adb gave no reason");
  const ask = async (services: readonly string[], own: AbortSignal): Promise<string> => {
    const limit = withDeadline(own, answerMs);
    const socket = await connectTo({ host: "127.0.0.1", port, ...server }, anywhere, own);
    try {
      return await untilAborted(askServer(socket, services, failure), limit.signal);
    } catch (error) {
      own.throwIfAborted();
      throw limit.over() ? silent(place, answerMs) : error;
    } finally {
      socket.destroy();
      limit.done();
    }
  };
  const shell = async (command: string, own: AbortSignal) => {
    const said = (await ask([`host:transport:${target}`, `shell:${command}; echo "=$?"`], own)).trimEnd();
    if (said.endsWith("=0")) return said.slice(0, -2).trim();
    throw refused(place, `${command}: ${said}`, "Check the key's code.");
  };
  const facts = async (own: AbortSignal) => {
    const said = await shell("getprop ro.product.model; getprop ro.build.version.release", own);
    const [make = "", version = ""] = said.split(/\r?\n/);
    return { make, version: `Android ${version}` };
  };
  try {
    await ask(["host:version"], signal);
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "DEVICE_OFFLINE" || isDoctor) throw error;
    await startAdbServer(port, process.env, signal);
  }
  if (address !== undefined && !isDoctor) await ask([`host:connect:${address}`], signal);
  return {
    facts: await facts(signal),
    ask: facts,
    async press(code: string, own: AbortSignal) {
      await shell(`input keyevent ${code}`, own);
      return performance.now();
    },
  };
}

const androidKeys = keyNames.map((name) => `${name}:${findKeyCode(name)}`).join(" ");

/** Keys of Android TVs and Fire TVs by adb, without anything that reads the screen. */
export const adbKeysFactory = defineRemote({
  ...{ name: "adb_keys", what: "adb keys", settings, holds: false, connect },
  claims: ({ serial, address }) => [`serial:${address ?? serial}`],
  keys: ({ keys }) => keyMap(androidKeys, keys),
});
