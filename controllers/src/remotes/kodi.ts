import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { portable } from "../portable.ts";
import type { Moment } from "../ports.ts";
import { byObject, Exchange, orClose, overSocket } from "../wire/exchange.ts";
import { refused } from "../wire/failures.ts";
import { askPeer, type HttpPeer } from "../wire/http.ts";
import { readJson } from "../wire/json.ts";
import { connectTo, hostAndPort } from "../wire/sockets.ts";
import { appId } from "./apps.ts";
import { keyTables } from "./keyTables.ts";
import { type Access, defineRemote, type RemoteLink, type Use } from "./remote.ts";
import { hostSchema, keyMap, keysSchema, portSchema } from "./settings.ts";

const settings = z.strictObject({
  address: hostSchema,
  transport: z
    .enum(["http", "tcp"])
    .default("http")
    .describe("http: its web server; tcp: JSON-RPC without one."),
  port: portSchema.optional().describe("8080 by http and 9090 by tcp, where it is left out."),
  user: z.string().max(200).optional().describe("Of the web server."),
  password: z.string().max(200).optional().describe("Of the web server, best as {{secret.NAME}}."),
  keys: keysSchema(),
});
type Settings = z.output<typeof settings>;

const replySchema = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});
type Reply = z.output<typeof replySchema>;
const factsSchema = z
  .object({ name: z.string(), version: z.object({ major: z.number(), minor: z.number() }) })
  .catch({ name: "Kodi", version: { major: 0, minor: 0 } });

function peerOf({
  address,
  transport,
  port = transport === "http" ? 8080 : 9090,
  user,
  password = "",
}: Settings) {
  const login = Buffer.from(`${user}:${password}`).toString("base64");
  return {
    name: `Kodi at ${hostAndPort(address, port)}`,
    check: "Start Kodi and allow remote control in Settings, Services, Control; or correct controllers.kodi.",
    ...{ host: address, port, root: `http://${hostAndPort(address, port)}` },
    headers: { ...(user !== undefined && { authorization: `Basic ${login}` }) },
    denied: {
      reason: "it does not accept the user and password",
      fix: "Correct controllers.kodi.user and password.",
    },
    mend: "Correct controllers.kodi.address and port.",
  };
}

/** Sends requests, each with an id of its own, and returns the reply to each. */
type Send = (body: string, id: number, signal: AbortSignal) => Promise<{ answer: Reply; sentAt: Moment }>;

const replyTo = (id: number) => (text: string) => {
  const reply = readJson(replySchema, text);
  return reply?.id === id ? reply : undefined;
};

const byHttp =
  (peer: HttpPeer): Send =>
  async (body, id, signal) => {
    const { text, sentAt } = await askPeer(peer, "/jsonrpc", { method: "POST", json: body }, signal);
    const answer = replyTo(id)(text);
    if (answer !== undefined) return { answer, sentAt };
    throw refused(peer, "its answer is not JSON-RPC", peer.mend);
  };

type KodiLink = RemoteLink & { open(addon: string, signal: AbortSignal): Promise<Moment> };

async function connect(given: Settings, reach: Access, signal: AbortSignal): Promise<KodiLink> {
  const peer = { ...peerOf(given), reach };
  const connection =
    given.transport === "tcp"
      ? new Exchange(overSocket(await connectTo(peer, reach, signal), byObject), peer)
      : undefined;
  const send: Send = connection ? (body, id, own) => connection.ask(body, replyTo(id), own) : byHttp(peer);
  let last = 0;
  const call = async (method: string, params: object, own: AbortSignal) => {
    const id = ++last;
    const { answer, sentAt } = await send(JSON.stringify({ jsonrpc: "2.0", id, method, params }), id, own);
    if (answer.error === undefined) return { result: answer.result, sentAt };
    const fix = "Check the key's code, or the name of the add-on.";
    throw refused(peer, `${method}: ${answer.error.message}`, fix);
  };
  const begin = async (): Promise<KodiLink> => {
    const properties = ["name", "version"];
    const { result } = await call("Application.GetProperties", { properties }, signal);
    const { name, version } = factsSchema.parse(result);
    return {
      facts: { make: name, version: `${version.major}.${version.minor}` },
      ...(connection && { connection }),
      ask: (own) => call("JSONRPC.Ping", {}, own),
      press: async (code, own) => (await call(...callOf(code), own)).sentAt,
      open: async (addonid, own) => (await call("Addons.ExecuteAddon", { addonid, wait: false }, own)).sentAt,
    };
  };
  return connection ? orClose(connection, begin) : begin();
}

/** The method of a code. `activatewindow(x)` has one of its own. */
function callOf(code: string): [string, object] {
  if (code.includes(".")) return [code, {}];
  const [, window] = /^activatewindow\((\w+)\)$/.exec(code) ?? [];
  return window === undefined
    ? ["Input.ExecuteAction", { action: code }]
    : ["GUI.ActivateWindow", { window }];
}

const openApp = (use: Use<KodiLink>): Command =>
  defineCommand({
    ...portable.open_app,
    async run({ app }, signal) {
      const addon = appId(app, "Kodi finds an app by the id of its add-on, such as plugin.video.x.");
      const sentAt = await sendInput(() => use((link) => link.open(addon, signal)));
      return { message: `started the add-on ${addon}`, sentAt };
    },
  });

/** Kodi by JSON-RPC. */
export const kodiFactory = defineRemote({
  ...{ name: "kodi", what: "Kodi", settings, holds: false, connect },
  claims: ({ address, transport, port }) => [`kodi:${address}:${port ?? transport}`],
  keys: ({ keys }) => keyMap(keyTables.kodi, keys),
  commands: (use) => [openApp(use)],
});
