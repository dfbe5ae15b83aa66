import type { Socket } from "node:net";
import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { findKeyCode, keyNames } from "../phones/androidKeys.ts";
import { startAdbServer } from "../programs/adb.ts";
import { untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { anywhere, defineRemote, diagnoseLink, keysSchema, portSchema, type RemoteLink } from "./remote.ts";
import { offline, silent, unauthorized } from "./wire/failures.ts";
import { connectTo } from "./wire/sockets.ts";

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
    keys: keysSchema,
  })
  .refine(({ serial, address }) => (serial === undefined) !== (address === undefined), {
    message: "give serial or address",
  });
type Settings = z.output<typeof settings>;

/** `input keyevent` starts a process on the device, which takes up to some seconds on a slow one. */
const answerMs = 10_000;
const mostBytes = 10_000;

/** One connection to the adb server. */
class AdbReader {
  #text = "";
  #isEnded = false;
  #wake = () => {};

  constructor(readonly socket: Socket) {
    socket.setEncoding("latin1");
    socket.on("data", (part: string) => {
      if (this.#text.length < mostBytes) this.#text += part;
      this.#wake();
    });
    socket.on("close", () => {
      this.#isEnded = true;
      this.#wake();
    });
  }

  async ask(
    services: readonly string[],
    failure: (said: string) => DeviceError,
    signal: AbortSignal,
  ): Promise<string> {
    try {
      for (const service of services) {
        this.socket.write(service.length.toString(16).padStart(4, "0") + service);
        await this.#until(() => this.#text.length >= 4, signal);
        const status = this.#text.slice(0, 4);
        this.#text = this.#text.slice(4);
        if (status === "OKAY") continue;
        await this.#until(() => false, signal);
        throw failure(this.#text.slice(4));
      }
      await this.#until(() => false, signal);
      return this.#text;
    } finally {
      this.socket.destroy();
    }
  }

  /** Also returns when the connection ends. */
  async #until(isEnough: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isEnough() && !this.#isEnded) {
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await untilAborted(more, signal);
    }
  }
}

/** `starts`: a server that is not running is started. */
function createLink({ serial, address, adb_port }: Settings, starts = true): RemoteLink {
  const target = address ?? serial ?? "";
  const port = adb_port ?? Number(process.env.ANDROID_ADB_SERVER_PORT || 5037);
  const server = { name: `the adb server on port ${port}`, check: "Run: adb start-server" };
  const place = {
    name: target,
    check: "Switch it on and allow USB or network debugging; adb devices lists it.",
  };
  let isOpen = false;

  /** Asks the adb server for services, one after another on one connection, and returns what the last one wrote. */
  const ask = async (services: readonly string[], signal: AbortSignal): Promise<string> => {
    const limit = withDeadline(signal, answerMs);
    try {
      const reader = new AdbReader(await connectTo({ host: "127.0.0.1", port, ...server }, anywhere, signal));
      return await reader.ask(services, failure, limit.signal);
    } catch (error) {
      signal.throwIfAborted();
      throw limit.over() ? silent(place, answerMs) : error;
    } finally {
      limit.done();
    }
  };
  const failure = (said: string): DeviceError =>
    /unauthorized/i.test(said)
      ? unauthorized(place, "it does not trust this computer", 'Accept "Allow USB debugging?" on its screen.')
      : offline(place, said.slice(0, 200) || "adb gave no reason");
  const shell = async (command: string, signal: AbortSignal) => {
    const said = (await ask([`host:transport:${target}`, `shell:${command}; echo "=$?"`], signal)).trimEnd();
    if (said.endsWith("=0")) return said.slice(0, -2).trim();
    throw new DeviceError(
      "DEVICE_ERROR",
      `${target} refused ${command}: ${said.slice(0, 200)}. Check the key's code.`,
    );
  };
  const facts = async (signal: AbortSignal) => {
    const [make = "", version = ""] = (
      await shell("getprop ro.product.model; getprop ro.build.version.release", signal)
    ).split(/\r?\n/);
    return { make, version: `Android ${version}` };
  };
  return {
    async connect(signal) {
      try {
        await ask(["host:version"], signal);
      } catch (error) {
        if (!(error instanceof DeviceError) || error.code !== "DEVICE_OFFLINE" || !starts) throw error;
        await startAdbServer(port, process.env, signal);
      }
      if (address !== undefined) await ask([`host:connect:${address}`], signal);
      const found = await facts(signal);
      isOpen = true;
      return found;
    },
    async disconnect() {
      isOpen = false;
    },
    isConnected: () => isOpen,
    ask: facts,
    async press(code, signal) {
      await shell(`input keyevent ${code}`, signal);
      return performance.now();
    },
  };
}

/** Keys of Android TVs and Fire TVs by adb, without anything that reads the screen. */
export const adbKeysFactory = defineRemote({
  name: "adb_keys",
  settings,
  example: { serial: "none" },
  claims: ({ serial, address }) => [`serial:${address ?? serial}`],
  diagnose: async (given, context) => [await diagnoseLink("adb keys", createLink(given, false), context)],
  create(given) {
    const codes = keyNames.map((name): [string, string] => [name, String(findKeyCode(name))]);
    const own = Object.entries(given.keys).filter(([, code]) => /^\w{1,60}$/.test(code));
    return { keys: new Map([...codes, ...own]), link: createLink(given) };
  },
});
