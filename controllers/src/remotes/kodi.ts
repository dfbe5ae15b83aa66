import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import type { Moment } from "../ports.ts";
import { keyTables } from "./keyTables.ts";
import {
  anywhere,
  defineRemote,
  diagnoseLink,
  hostAndPort,
  hostSchema,
  keyMap,
  keysSchema,
  portSchema,
  type RemoteLink,
} from "./remote.ts";
import { byObject, Exchange, overSocket } from "./wire/exchange.ts";
import { offline, refused, unauthorized } from "./wire/failures.ts";
import { askHttp, readJson } from "./wire/http.ts";
import { connectTo, type Reach } from "./wire/sockets.ts";

const settings = z.strictObject({
  address: hostSchema,
  transport: z
    .enum(["http", "tcp"])
    .default("http")
    .describe("http: its web server; tcp: JSON-RPC without one."),
  port: portSchema.optional().describe("8080 by http and 9090 by tcp, where it is left out."),
  user: z.string().max(200).optional().describe("Of the web server."),
  password: z.string().max(200).optional().describe("Of the web server, best as {{secret.NAME}}."),
  keys: keysSchema,
});
type Settings = z.output<typeof settings>;
const replySchema = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string(), code: z.number().optional() }).optional(),
});

class JsonRpc {
  readonly #settings;
  readonly #port: number;
  readonly #place;
  #last = 0;
  #exchange: Exchange | undefined;
  #isOpen = false;

  constructor(
    given: Settings,
    readonly reach: Reach,
  ) {
    this.#settings = given;
    this.#port = given.port ?? (given.transport === "http" ? 8080 : 9090);
    const check =
      "Start Kodi and allow remote control in Settings, Services, Control; or correct controllers.kodi.";
    this.#place = { name: `Kodi at ${hostAndPort(given.address, this.#port)}`, check };
  }

  isOpen(): boolean {
    return this.#isOpen && (this.#exchange?.isOpen() ?? true);
  }

  async open(signal: AbortSignal): Promise<void> {
    if (this.#settings.transport === "tcp") {
      const peer = { host: this.#settings.address, port: this.#port, ...this.#place };
      this.#exchange = new Exchange(
        overSocket(await connectTo(peer, this.reach, signal), byObject),
        this.#place,
      );
    }
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
    this.#exchange?.close();
    this.#exchange = undefined;
  }

  /** Throws DEVICE_ERROR for an error of Kodi, with what it said. */
  async call(
    method: string,
    params: object,
    signal: AbortSignal,
  ): Promise<{ result: unknown; sentAt: Moment }> {
    if (!this.isOpen()) throw offline(this.#place, "it is not connected");
    const id = ++this.#last;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const { reply, sentAt } = await (this.#exchange
      ? this.#byTcp(this.#exchange, body, id, signal)
      : this.#byHttp(body, signal));
    if (reply.error)
      throw refused(
        this.#place,
        `${method}: ${reply.error.message}`,
        "Check the key's code, or the name of the add-on.",
      );
    return { result: reply.result, sentAt };
  }

  async #byTcp(exchange: Exchange, body: string, id: number, signal: AbortSignal) {
    const find = (text: string) => {
      const reply = replySchema.safeParse(readJson(text));
      return reply.success && reply.data.id === id ? reply.data : undefined;
    };
    const { answer, sentAt } = await exchange.ask(body, find, signal);
    return { reply: answer, sentAt };
  }

  async #byHttp(body: string, signal: AbortSignal) {
    const { address, user, password = "" } = this.#settings;
    const login =
      user === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
    const headers = { "content-type": "application/json", ...login };
    const url = `http://${hostAndPort(address, this.#port)}/jsonrpc`;
    const { status, text, sentAt } = await askHttp(
      { url, method: "POST", headers, body },
      { place: this.#place, reach: this.reach },
      signal,
    );
    if (status === 401 || status === 403)
      throw unauthorized(
        this.#place,
        "it does not accept the user and password",
        "Correct controllers.kodi.user and password.",
      );
    const reply = replySchema.safeParse(readJson(text));
    if (status >= 400 || !reply.success)
      throw refused(
        this.#place,
        `HTTP ${status} and no answer of JSON-RPC`,
        "Correct controllers.kodi.address and port.",
      );
    return { reply: reply.data, sentAt };
  }
}

const versionSchema = z.object({
  name: z.string(),
  version: z.object({ major: z.number(), minor: z.number() }),
});

function createLink(rpc: JsonRpc): RemoteLink {
  return {
    async connect(signal) {
      await rpc.open(signal);
      const { result } = await rpc.call(
        "Application.GetProperties",
        { properties: ["name", "version"] },
        signal,
      );
      const facts = versionSchema.safeParse(result);
      if (!facts.success) return { make: "Kodi" };
      const { major, minor } = facts.data.version;
      return { make: facts.data.name, version: `${major}.${minor}` };
    },
    disconnect: async () => rpc.close(),
    isConnected: () => rpc.isOpen(),
    ask: (signal) => rpc.call("JSONRPC.Ping", {}, signal),
    async press(code, signal) {
      const isMethod = code.includes(".");
      const call = isMethod ? rpc.call(code, {}, signal) : rpc.call(...asAction(code), signal);
      return (await call).sentAt;
    },
  };
}

/** `activatewindow(x)` is a method of its own. */
const asAction = (code: string): [string, object] => {
  const [, window] = /^activatewindow\((\w+)\)$/.exec(code) ?? [];
  return window === undefined
    ? ["Input.ExecuteAction", { action: code }]
    : ["GUI.ActivateWindow", { window }];
};

const openApp = (rpc: JsonRpc): Command =>
  defineCommand({
    ...portable.open_app,
    async run({ app: { package: addonid } }, signal) {
      if (addonid === undefined)
        throw new DeviceError(
          "INVALID_PARAMS",
          "Kodi finds an app by the id of its add-on. Give it as app.package, such as plugin.video.x.",
        );
      const { sentAt } = await sendInput(() =>
        rpc.call("Addons.ExecuteAddon", { addonid, wait: false }, signal),
      );
      return { message: `started the add-on ${addonid}`, sentAt };
    },
  });

/** Kodi by JSON-RPC. */
export const kodiFactory = defineRemote({
  name: "kodi",
  settings,
  example: { address: "127.0.0.1" },
  claims: ({ address, transport, port }) => [`kodi:${address}:${port ?? transport}`],
  diagnose: async (given, context) => {
    if (/\{\{/.test(given.password ?? ""))
      return [{ what: "Kodi", status: "ok", detail: "its password is a secret, so it was not asked" }];
    return [await diagnoseLink("Kodi", createLink(new JsonRpc(given, anywhere)), context)];
  },
  create(given, context) {
    const rpc = new JsonRpc(given, context);
    return { keys: keyMap(keyTables.kodi, given.keys), link: createLink(rpc), commands: [openApp(rpc)] };
  },
});
