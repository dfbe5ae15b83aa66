import { z } from "zod";
import { unsent } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { byLine, Exchange, orClose, overSocket } from "../wire/exchange.ts";
import { refused } from "../wire/failures.ts";
import { connectTo, hostAndPort } from "../wire/sockets.ts";
import { type Access, defineRemote, type RemoteLink } from "./remote.ts";
import { hostSchema, keyMap, keysSchema, portSchema } from "./settings.ts";

const settings = z.strictObject({
  address: hostSchema,
  port: portSchema.default(4998),
  connector: z
    .string()
    .regex(/^\d{1,2}:\d{1,2}$/)
    .default("1:1")
    .describe("Module and connector of the emitter, such as 1:3."),
  keys: keysSchema(/^\d{5,6},\d{1,2},\d{1,3}(,\d{1,5}){2,500}$/)
    .unwrap()
    .describe(
      "Name of a key to its learned code: what follows the id in sendir, as frequency,repeat,offset,on,off,on,off ...",
    ),
});

async function connect(
  { address: host, port, connector }: z.output<typeof settings>,
  access: Access,
  signal: AbortSignal,
): Promise<RemoteLink> {
  const place = {
    name: `the Global Caché at ${hostAndPort(host, port)}`,
    check: "Check its power and network, or correct controllers.global_cache.address.",
  };
  const connection = new Exchange(
    overSocket(await connectTo({ ...place, host, port }, access, signal), byLine),
    place,
  );
  let last = 0;
  const ask = <T>(line: string, find: (answer: string) => T | undefined, own: AbortSignal) =>
    connection.ask(
      `${line}\r`,
      (answer) => {
        if (answer.startsWith("busyIR")) throw busy(place.name);
        if (/^(?:ERR|unknowncommand)/i.test(answer))
          throw refused(place, answer, "Check the connector, and the key's learned code.");
        return find(answer);
      },
      own,
    );
  const version = async (own: AbortSignal) => {
    const isVersion = (line: string) => /^(?:version,\d+,(.+)|(\d+-[\d-]+))$/.exec(line)?.slice(1);
    return (await ask("getversion", isVersion, own)).answer.join("");
  };
  return orClose(connection, async () => ({
    facts: { make: "Global Caché", version: await version(signal) },
    connection,
    ask: version,
    async press(code, own) {
      last = (last % 65_535) + 1;
      const done = `completeir,${connector},${last}`;
      const isDone = (line: string) => line === done || undefined;
      return (await ask(`sendir,${connector},${last},${code}`, isDone, own)).sentAt;
    },
  }));
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
  ...{ name: "global_cache", what: "Global Caché", settings, holds: false, connect },
  claims: ({ address, port, connector }) => [`global_cache:${hostAndPort(address, port)}/${connector}`],
  keys: ({ keys }) => keyMap("", keys),
});
