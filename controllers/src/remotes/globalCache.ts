import { z } from "zod";
import { unsent } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import {
  anywhere,
  defineRemote,
  diagnoseLink,
  hostAndPort,
  hostSchema,
  keyMap,
  portSchema,
  type RemoteLink,
} from "./remote.ts";
import { byLine, Exchange, overSocket } from "./wire/exchange.ts";
import { offline, refused } from "./wire/failures.ts";
import { connectTo, type Reach } from "./wire/sockets.ts";

const settings = z.strictObject({
  address: hostSchema,
  port: portSchema.default(4998),
  connector: z
    .string()
    .regex(/^\d{1,2}:\d{1,2}$/)
    .default("1:1")
    .describe("Module and connector of the emitter, such as 1:3."),
  keys: z
    .record(
      z.string().regex(/^[A-Z0-9][A-Z0-9_]{0,39}$/),
      z.string().regex(/^\d{5,6},\d{1,2},\d{1,3}(,\d{1,5}){2,500}$/),
    )
    .describe(
      "Name of a key to its learned code: what follows the id in sendir, as frequency,repeat,offset,on,off,on,off ...",
    ),
});
type Settings = z.output<typeof settings>;

function createLink({ address, port, connector }: Settings, reach: Reach): RemoteLink {
  const place = {
    name: `the Global Caché at ${hostAndPort(address, port)}`,
    check: "Check its power and network, or correct controllers.global_cache.address.",
  };
  let exchange: Exchange | undefined;
  let last = 0;
  const ask = <T>(line: string, find: (answer: string) => T | undefined, signal: AbortSignal) => {
    if (exchange === undefined) throw offline(place, "it is not connected");
    return exchange.ask(
      `${line}\r`,
      (answer) => {
        if (answer.startsWith("busyIR")) throw busy(place.name);
        if (/^(?:ERR|unknowncommand)/i.test(answer))
          throw refused(place, answer, "Check the connector, and the key's learned code.");
        return find(answer);
      },
      signal,
    );
  };
  const version = (signal: AbortSignal) =>
    ask(
      "getversion",
      (line) => /^version,\d+,(.+)$/.exec(line)?.[1] ?? /^(\d+-[\d-]+)$/.exec(line)?.[1],
      signal,
    );
  return {
    async connect(signal) {
      const socket = await connectTo({ host: address, port, ...place }, reach, signal);
      exchange = new Exchange(overSocket(socket, byLine), place);
      return { make: "Global Caché", version: (await version(signal)).answer };
    },
    async disconnect() {
      exchange?.close();
      exchange = undefined;
    },
    isConnected: () => exchange?.isOpen() ?? false,
    ask: version,
    async press(code, signal) {
      last = (last % 65_535) + 1;
      const done = `completeir,${connector},${last}`;
      const isDone = (line: string) => (line === done ? true : undefined);
      return (await ask(`sendir,${connector},${last},${code}`, isDone, signal)).sentAt;
    },
  };
}

const busy = (name: string) =>
  unsent(
    new DeviceError(
      "DEVICE_BUSY",
      `Another client sends by ${name} just now. Repeat the key when it has ended.`,
    ),
  );

/** Infrared by an iTach or another Global Caché, with learned codes of the configuration. */
export const globalCacheFactory = defineRemote({
  name: "global_cache",
  settings,
  example: { address: "127.0.0.1", keys: {} },
  claims: ({ address, port, connector }) => [`global_cache:${hostAndPort(address, port)}/${connector}`],
  diagnose: async (given, context) => [
    await diagnoseLink("Global Caché", createLink(given, anywhere), context),
  ],
  create: (given, context) => ({ keys: keyMap("", given.keys), link: createLink(given, context) }),
});
