import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { Exchange, orClose, overSocket, type Split } from "../wire/exchange.ts";
import { refused } from "../wire/failures.ts";
import { connectLocal } from "../wire/sockets.ts";
import { keyTables } from "./keyTables.ts";
import { type Access, defineRemote, type RemoteLink } from "./remote.ts";
import { keyMap, keysSchema } from "./settings.ts";

const settings = z.strictObject({
  socket: z.string().min(1).max(300).default("/var/run/lirc/lircd").describe("The socket of lircd."),
  remote: z
    .string()
    .regex(/^[\w.+-]{1,100}$/)
    .describe("Name of the remote in lircd.conf. List them with: irsend list '' ''"),
  keys: keysSchema(/^\S{1,200}$/),
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

/** The keys that lircd.conf has a code for: by their usual names, else by the names of the codes. */
function keysOf({ keys }: Settings, listed: readonly string[]): Map<string, string> {
  const usual = [...keyMap(keyTables.infrared, keys)].filter(([, code]) => listed.includes(code));
  const named = new Set(usual.map(([, code]) => code));
  const others = listed.filter((code) => !named.has(code));
  return new Map([...usual, ...others.map((code): [string, string] => [code, code])]);
}

async function connect(given: Settings, _access: Access, signal: AbortSignal): Promise<RemoteLink> {
  const { socket, remote } = given;
  const place = {
    name: `lircd at ${socket}`,
    check: "Start lircd (sudo systemctl start lircd), or correct controllers.infrared.socket.",
  };
  const connection = new Exchange(overSocket(await connectLocal(socket, place, signal), byReply), place);
  const ask = async (command: string, own: AbortSignal) => {
    const isReply = (reply: string) => {
      const [asked, ...lines] = reply.trimEnd().split("\n");
      return asked === command ? lines : undefined;
    };
    const { answer, sentAt } = await connection.ask(`${command}\n`, isReply, own);
    const [result, , , ...data] = answer;
    if (result === "SUCCESS") return { data, sentAt };
    throw refused(place, data.join(" "), "Compare remote and keys with: irsend list '' ''");
  };
  const send = async (how: string, code: string, own: AbortSignal) =>
    (await ask(`SEND_${how} ${remote} ${code}`, own)).sentAt;
  return orClose(connection, async () => {
    const [version = ""] = (await ask("VERSION", signal)).data;
    const remotes = (await ask("LIST", signal)).data;
    if (!remotes.includes(remote))
      throw new DeviceError(
        "DEVICE_NOT_FOUND",
        `lircd has no remote "${remote}"; it has ${remotes.join(", ") || "none"}. Correct controllers.infrared.remote, or add it to lircd.conf.`,
      );
    const listed = (await ask(`LIST ${remote}`, signal)).data.map((line) => line.replace(/^\S+\s+/, ""));
    return {
      facts: { make: "infrared", version: `lircd ${version}` },
      connection,
      keys: keysOf(given, listed),
      ask: (own) => ask("VERSION", own),
      press: (code, own) => send("ONCE", code, own),
      hold: {
        down: (code, own) => send("START", code, own),
        up: (code, own) => send("STOP", code, own),
      },
    };
  });
}

/** Infrared by lircd, with the remotes of its lircd.conf. Whether the box took the light is unknown: a key that left counts as sent. */
export const infraredFactory = defineRemote({
  ...{ name: "infrared", what: "lircd", settings, holds: true, connect },
  claims: ({ socket, remote }) => [`infrared:${socket}/${remote}`],
  keys: ({ keys }) => keyMap(keyTables.infrared, keys),
});
