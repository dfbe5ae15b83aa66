import { z } from "zod";
import type { Pairing } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { orClose } from "../wire/exchange.ts";
import { refused, unauthorized } from "../wire/failures.ts";
import { readJson } from "../wire/json.ts";
import { hostAndPort } from "../wire/sockets.ts";
import { openWebSocket, type WebLink, type WebPeer } from "../wire/webSocket.ts";
import { type Apps, appCommands, appSource } from "./apps.ts";
import { keyTables } from "./keyTables.ts";
import { diagnosePaired, needPairing, type PairingQuestion, type PairTv, pairingFix } from "./paired.ts";
import { type Access, defineRemote, type RemoteLink } from "./remote.ts";
import { hostSchema, keyMap, keysSchema, portSchema } from "./settings.ts";
import { webosManifest } from "./webosManifest.ts";

const settings = z.strictObject({
  address: hostSchema,
  secure: z.boolean().default(true).describe("By TLS on port 3001; false: port 3000, for TVs before 2016."),
  port: portSchema.optional().describe("3001, or 3000 if not secure, where it is left out."),
  keys: keysSchema(),
});
type Settings = z.output<typeof settings>;

const messageSchema = z.object({
  id: z.string().optional(),
  type: z.string(),
  error: z.string().optional(),
  payload: z.record(z.string(), z.unknown()).default({}),
});
const registerMs = 5_000;

function peerOf({ address: host, secure: isSecure, port = isSecure ? 3001 : 3000 }: Settings): WebPeer {
  const check = "Switch the TV on, or correct controllers.webos.address.";
  return { name: `the LG TV at ${hostAndPort(host, port)}`, check, host, port, isSecure, path: "/" };
}

/** Opens the channel of requests and registers there. Without a pairing, the TV asks the person in front of it. */
async function register(
  peer: WebPeer,
  access: Access,
  { pairing, ms, asked }: PairingQuestion & { pairing?: Pairing },
  signal: AbortSignal,
): Promise<{ link: WebLink; token: string }> {
  const fix = `${pairingFix(access.device)}, and accept it on the TV.`;
  const link = await openWebSocket(peer, { reach: access, pinned: pairing?.certificate, fix }, signal);
  const key = pairing && { "client-key": pairing.token };
  const payload = { forcePairing: false, pairingType: "PROMPT", manifest: webosManifest, ...key };
  const find = (text: string) => {
    const message = readJson(messageSchema, text);
    if (message?.id !== "register") return undefined;
    if (message.type === "error") throw unauthorized(peer, message.error ?? "it refused to pair", fix);
    if (message.type === "registered") return String(message.payload["client-key"]);
    if (message.payload.pairingType === undefined) return undefined;
    if (pairing) throw unauthorized(peer, "it has forgotten this server or was paired anew", fix);
    asked();
    return undefined;
  };
  const message = JSON.stringify({ id: "register", type: "register", payload });
  const ask = () => link.exchange.ask(message, find, signal, ms);
  return { link, token: (await orClose(link.exchange, ask)).answer };
}

/** SSAP over the channel of requests. Buttons have a socket of their own, which the TV names. */
class Ssap {
  readonly #peer: WebPeer;
  readonly #access: Access;
  readonly #main: WebLink;
  #pointer: WebLink | undefined;
  #last = 0;

  constructor(peer: WebPeer, access: Access, main: WebLink) {
    this.#peer = peer;
    this.#access = access;
    this.#main = main;
    main.exchange.onClose(() => void this.#pointer?.exchange.close());
  }

  /** Throws DEVICE_ERROR or DEVICE_UNAUTHORIZED for a refusal. */
  async request(uri: string, payload: object, signal: AbortSignal) {
    const id = `r${++this.#last}`;
    const find = (text: string) => {
      const message = readJson(messageSchema, text);
      return message?.id === id ? this.#judge(uri, message) : undefined;
    };
    const message = JSON.stringify({ id, type: "request", uri: `ssap://${uri}`, payload });
    return this.#main.exchange.ask(message, find, signal);
  }

  async button(name: string, signal: AbortSignal) {
    if (!this.#pointer?.exchange.isOpen()) this.#pointer = await this.#openPointer(signal);
    return this.#pointer.send(`type:button\nname:${name}\n\n`, signal);
  }

  get #fix() {
    return `${pairingFix(this.#access.device)}.`;
  }

  #judge(uri: string, { type, error = "", payload }: z.output<typeof messageSchema>) {
    if (type === "error" && /^40[13]/.test(error)) throw unauthorized(this.#peer, error, this.#fix);
    if (type !== "error" && payload.returnValue !== false) return payload;
    const said = error || String(payload.errorText ?? "no reason");
    throw refused(this.#peer, `${uri}: ${said}`, "Check the key's code, or the app's id.");
  }

  async #openPointer(signal: AbortSignal): Promise<WebLink> {
    const where = "com.webos.service.networkinput/getPointerInputSocket";
    const path = String((await this.request(where, {}, signal)).answer.socketPath);
    if (!URL.canParse(path)) throw refused(this.#peer, "it names no pointer socket", this.#peer.check);
    const { protocol, port, pathname, search } = new URL(path);
    const isSecure = protocol === "wss:";
    // On the TV itself, whatever host it names.
    const place = { isSecure, port: Number(port || (isSecure ? 443 : 80)), path: pathname + search };
    const pinned = this.#main.fingerprint;
    const given = { reach: this.#access, pinned, fix: this.#fix };
    return openWebSocket({ ...this.#peer, ...place }, given, signal);
  }
}

const listedApps = z
  .array(z.object({ id: z.string(), title: z.string().optional(), version: z.string().optional() }))
  .catch([]);

const appsOf = (tv: Ssap): Apps => ({
  open: async (id, signal) => (await tv.request("system.launcher/launch", { id }, signal)).sentAt,
  async front(signal) {
    const { answer } = await tv.request("com.webos.applicationManager/getForegroundAppInfo", {}, signal);
    return String(answer.appId);
  },
  async close(id, signal) {
    const { sentAt } = await sendInput(() => tv.request("system.launcher/close", { id }, signal));
    return { message: `closed the app ${id}`, sentAt };
  },
  async list(signal) {
    const { answer } = await tv.request("com.webos.applicationManager/listApps", {}, signal);
    return listedApps.parse(answer.apps).map(({ id, title, version }) => ({
      id,
      ...(title !== undefined && { name: title }),
      ...(version !== undefined && { version }),
    }));
  },
});

async function connect(
  given: Settings,
  access: Access,
  signal: AbortSignal,
): Promise<RemoteLink & { apps: Apps }> {
  const peer = peerOf(given);
  const pairing = await needPairing(peer, access);
  const { link } = await register(peer, access, { pairing, ms: registerMs, asked() {} }, signal);
  const tv = new Ssap(peer, access, link);
  const info = (own: AbortSignal) => tv.request("system/getSystemInfo", {}, own);
  const { answer } = await orClose(link.exchange, () => info(signal));
  return {
    facts: { make: `LG ${String(answer.modelName ?? "TV")}` },
    connection: link.exchange,
    apps: appsOf(tv),
    ask: info,
    async press(code, own) {
      const [, request] = /^ssap:\/\/(.+)$/.exec(code) ?? [];
      return request === undefined ? tv.button(code, own) : (await tv.request(request, {}, own)).sentAt;
    },
  };
}

/** LG's TVs by SSAP, once paired. */
export const webosFactory = defineRemote({
  ...{ name: "webos", what: "LG TV", settings, holds: false, connect },
  claims: ({ address }) => [`webos:${address}`],
  keys: ({ keys }) => keyMap(keyTables.webos, keys),
  commands: (use) => appCommands(use, "An LG TV finds an app by its id, such as netflix."),
  apps: appSource,
  diagnose: (given, context) => diagnosePaired("LG TV", peerOf(given), context),
});

export const pairWebos: PairTv = (given, access, question, signal) =>
  register(peerOf(settings.parse(given)), access, question, signal);
