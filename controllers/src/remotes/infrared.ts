import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { keyTables } from "./keyTables.ts";
import { defineRemote, diagnoseLink, keyMap, keysSchema, type RemoteLink } from "./remote.ts";
import { Exchange, overSocket, type Split } from "./wire/exchange.ts";
import { offline, refused } from "./wire/failures.ts";
import { connectLocal } from "./wire/sockets.ts";

const settings = z.strictObject({
  socket: z.string().min(1).max(300).default("/var/run/lirc/lircd").describe("The socket of lircd."),
  remote: z
    .string()
    .regex(/^[\w.+-]{1,100}$/)
    .describe("Name of the remote in lircd.conf. List them with: irsend list '' ''"),
  keys: keysSchema,
});
type Settings = z.output<typeof settings>;

/** Replies stand between BEGIN and END; lines outside are keys that lircd received. */
const byReply: Split = (text, take) => {
  let rest = text;
  for (;;) {
    const [whole, reply = ""] = /^[\s\S]*?^BEGIN\n([\s\S]*?)^END\n/m.exec(rest) ?? [];
    if (whole === undefined)
      return /(?:^|\n)BEGIN\n/.test(rest) ? rest : rest.slice(rest.lastIndexOf("\n") + 1);
    take(reply);
    rest = rest.slice(whole.length);
  }
};

/** A key without a code in lircd.conf cannot be sent, and those of other names can. */
function keepListed(keys: Map<string, string>, listed: readonly string[]): void {
  for (const [name, code] of [...keys]) if (!listed.includes(code)) keys.delete(name);
  for (const code of listed) if (![...keys.values()].includes(code)) keys.set(code, code);
}

function createLink({ socket: path, remote }: Settings, keys: Map<string, string>): RemoteLink {
  const place = {
    name: `lircd at ${path}`,
    check: "Start lircd (sudo systemctl start lircd), or correct controllers.infrared.socket.",
  };
  let exchange: Exchange | undefined;
  const ask = async (command: string, signal: AbortSignal) => {
    if (exchange === undefined) throw offline(place, "it is not connected");
    const { answer, sentAt } = await exchange.ask(
      `${command}\n`,
      (reply) => (reply.split("\n", 1)[0] === command ? reply.trimEnd().split("\n").slice(1) : undefined),
      signal,
    );
    const [result, , , ...data] = answer;
    if (result === "SUCCESS") return { data, sentAt };
    throw refused(place, data.join(" "), "Compare remote and keys with: irsend list '' ''");
  };
  return {
    async connect(signal) {
      exchange = new Exchange(overSocket(await connectLocal(path, place, signal), byReply), place);
      const [version] = (await ask("VERSION", signal)).data;
      const remotes = (await ask("LIST", signal)).data;
      if (!remotes.includes(remote))
        throw new DeviceError(
          "DEVICE_NOT_FOUND",
          `lircd has no remote "${remote}"; it has ${remotes.join(", ") || "none"}. Correct controllers.infrared.remote, or add it to lircd.conf.`,
        );
      const listed = (await ask(`LIST ${remote}`, signal)).data.map((line) => line.replace(/^\S+\s+/, ""));
      keepListed(keys, listed);
      return { make: "infrared", ...(version !== undefined && { version: `lircd ${version}` }) };
    },
    async disconnect() {
      exchange?.close();
      exchange = undefined;
    },
    isConnected: () => exchange?.isOpen() ?? false,
    ask: (signal) => ask("VERSION", signal),
    press: async (code, signal) => (await ask(`SEND_ONCE ${remote} ${code}`, signal)).sentAt,
    hold: {
      down: async (code, signal) => (await ask(`SEND_START ${remote} ${code}`, signal)).sentAt,
      up: async (code, signal) => (await ask(`SEND_STOP ${remote} ${code}`, signal)).sentAt,
    },
  };
}

/** Infrared by lircd, with the remotes of its lircd.conf. Whether the box took the light is unknown: a key that left counts as sent. */
export const infraredFactory = defineRemote({
  name: "infrared",
  settings,
  example: { remote: "tv" },
  claims: ({ socket, remote }) => [`infrared:${socket}/${remote}`],
  diagnose: async (given, context) => [
    await diagnoseLink("lircd", createLink(given, keyMap(keyTables.infrared, given.keys)), context),
  ],
  create(given) {
    const keys = keyMap(keyTables.infrared, given.keys);
    return { keys, link: createLink(given, keys) };
  },
});
