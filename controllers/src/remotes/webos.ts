import { z } from "zod";
import {
  type AppSource,
  type Command,
  type ControllerContext,
  defineCommand,
  type Pairing,
} from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import type { Moment } from "../ports.ts";
import { poll } from "../waiting/deadlines.ts";
import { keyTables } from "./keyTables.ts";
import {
  defineRemote,
  diagnosePaired,
  hostAndPort,
  hostSchema,
  keyMap,
  keysSchema,
  type RemoteLink,
} from "./remote.ts";
import { webosManifest } from "./webosManifest.ts";
import { notPaired, offline, pairingFix, refused, unauthorized } from "./wire/failures.ts";
import { readJson } from "./wire/http.ts";
import type { Reach } from "./wire/sockets.ts";
import { openWebSocket, type WebLink } from "./wire/webSocket.ts";

const settings = z.strictObject({
  address: hostSchema,
  secure: z.boolean().default(true).describe("By TLS on port 3001; false: port 3000, for TVs before 2016."),
  port: z.int().min(1).max(65_535).optional().describe("3001, or 3000 if not secure, where it is left out."),
  keys: keysSchema,
});
type Settings = z.output<typeof settings>;

const messageSchema = z.object({
  id: z.string().optional(),
  type: z.string(),
  error: z.string().optional(),
  payload: z.record(z.string(), z.unknown()).optional(),
});

type Parts = { reach: Reach; device: string; pairing(): Promise<Pairing | undefined> };

class Ssap {
  readonly #peer;
  readonly #parts: Parts;
  #main: WebLink | undefined;
  #pointer: WebLink | undefined;
  #last = 0;

  constructor({ address: host, secure: isSecure, port = isSecure ? 3001 : 3000 }: Settings, parts: Parts) {
    const check = "Switch the TV on, or correct controllers.webos.address.";
    this.#peer = { name: `the LG TV at ${hostAndPort(host, port)}`, check, host, port, isSecure, path: "/" };
    this.#parts = parts;
  }

  isOpen(): boolean {
    return this.#main?.exchange.isOpen() ?? false;
  }

  close(): void {
    for (const link of [this.#main, this.#pointer]) link?.exchange.close();
    this.#main = undefined;
    this.#pointer = undefined;
  }

  async open(signal: AbortSignal): Promise<void> {
    const pairing = await this.#parts.pairing();
    if (pairing === undefined) throw notPaired(this.#peer, this.#parts.device);
    await this.#connect(pairing.certificate, signal);
    await this.#register(pairing.token, signal, () => {
      throw unauthorized(this.#peer, "it has forgotten this server or was paired anew", `${this.#fix()}.`);
    });
  }

  /** Has the TV ask the person in front of it, for at most `ms`. */
  async pair(ms: number, signal: AbortSignal, asked: () => void): Promise<Pairing> {
    await this.#connect(undefined, signal);
    const certificate = this.#main?.fingerprint;
    const token = await this.#register(undefined, signal, asked, ms);
    return { token, ...(certificate !== undefined && { certificate }) };
  }

  /** Throws DEVICE_ERROR for a refusal. */
  async request(
    uri: string,
    payload: object,
    signal: AbortSignal,
  ): Promise<{ payload: Record<string, unknown>; sentAt: Moment }> {
    if (this.#main === undefined) throw offline(this.#peer, "it is not connected");
    const id = `r${++this.#last}`;
    const find = (text: string) => {
      const message = this.#read(text);
      return message?.id === id ? this.#judge(uri, message) : undefined;
    };
    const message = JSON.stringify({ id, type: "request", uri, payload });
    const { answer, sentAt } = await this.#main.exchange.ask(message, find, signal);
    return { payload: answer, sentAt };
  }

  /** Throws what a refusal says. */
  #judge(uri: string, { type, error = "", payload = {} }: z.output<typeof messageSchema>) {
    if (type === "error" && /^40[13]/.test(error)) throw unauthorized(this.#peer, error, `${this.#fix()}.`);
    if (type !== "error" && payload.returnValue !== false) return payload;
    const said = error || String(payload.errorText ?? "no reason");
    throw refused(this.#peer, `${uri}: ${said}`, "Check the key's code, or the app's id.");
  }

  async button(name: string, signal: AbortSignal): Promise<Moment> {
    if (!this.#pointer?.exchange.isOpen()) this.#pointer = await this.#openPointer(signal);
    return this.#pointer.send(`type:button\nname:${name}\n\n`, signal);
  }

  async #openPointer(signal: AbortSignal): Promise<WebLink> {
    const { payload } = await this.request(
      "ssap://com.webos.service.networkinput/getPointerInputSocket",
      {},
      signal,
    );
    const path = String(payload.socketPath);
    const url = URL.canParse(path) ? new URL(path) : undefined;
    const { host } = this.#peer;
    if (url === undefined || !/^wss?:$/.test(url.protocol) || url.hostname.replace(/^\[|\]$/g, "") !== host)
      throw refused(
        this.#peer,
        "its pointer socket is on another host",
        "Give the TV's own IP address in controllers.webos.address.",
      );
    const isSecure = url.protocol === "wss:";
    const port = Number(url.port || (isSecure ? 443 : 80));
    const pinned = this.#main?.fingerprint;
    const given = { reach: this.#parts.reach, pinned, fix: `${this.#fix()}.` };
    return openWebSocket({ ...this.#peer, isSecure, port, path: url.pathname + url.search }, given, signal);
  }

  async #connect(pinned: string | undefined, signal: AbortSignal): Promise<void> {
    this.#main = await openWebSocket(
      this.#peer,
      { reach: this.#parts.reach, pinned, fix: `${this.#fix()}.` },
      signal,
    );
  }

  async #register(
    token: string | undefined,
    signal: AbortSignal,
    asked: () => void,
    ms = 5_000,
  ): Promise<string> {
    const key = token === undefined ? {} : { "client-key": token };
    const payload = { forcePairing: false, pairingType: "PROMPT", manifest: webosManifest, ...key };
    const find = (text: string) => {
      const message = this.#read(text);
      if (message?.id !== "register") return undefined;
      if (message.type === "error")
        throw unauthorized(
          this.#peer,
          message.error ?? "it refused to pair",
          `${this.#fix()}, and accept it on the TV.`,
        );
      if (message.type === "registered") return String(message.payload?.["client-key"]);
      if (message.payload?.pairingType !== undefined) asked();
      return undefined;
    };
    const main = this.#main;
    if (main === undefined) throw offline(this.#peer, "it is not connected");
    const message = JSON.stringify({ id: "register", type: "register", payload });
    return (await main.exchange.ask(message, find, signal, ms)).answer;
  }

  #read(text: string) {
    const parsed = messageSchema.safeParse(readJson(text));
    return parsed.success ? parsed.data : undefined;
  }

  #fix(): string {
    return pairingFix(this.#parts.device);
  }
}

function createLink(tv: Ssap): RemoteLink {
  return {
    async connect(signal) {
      await tv.open(signal);
      const { payload } = await tv.request("ssap://system/getSystemInfo", {}, signal);
      return { make: `LG ${String(payload.modelName ?? "TV")}` };
    },
    disconnect: async () => tv.close(),
    isConnected: () => tv.isOpen(),
    ask: (signal) => tv.request("ssap://system/getSystemInfo", {}, signal),
    async press(code, signal) {
      return code.startsWith("ssap://")
        ? (await tv.request(code, {}, signal)).sentAt
        : tv.button(code, signal);
    },
  };
}

const idOf = ({ package: id }: { package?: string | undefined }): string => {
  if (id !== undefined) return id;
  throw new DeviceError(
    "INVALID_PARAMS",
    "An LG TV finds an app by its id. Give it as app.package, such as netflix.",
  );
};

const appCommands = (tv: Ssap): Command[] => [
  defineCommand({
    ...portable.open_app,
    async run({ app, timeout_ms }, signal) {
      const id = idOf(app);
      const { sentAt } = await sendInput(() => tv.request("ssap://system.launcher/launch", { id }, signal));
      const front = "ssap://com.webos.applicationManager/getForegroundAppInfo";
      const isShown = async () => (await tv.request(front, {}, signal)).payload.appId === id;
      if (await poll(isShown, { everyMs: 200, ms: timeout_ms, signal }))
        return { message: `opened the app ${id}`, sentAt };
      throw new DeviceError(
        "COMMAND_TIMEOUT",
        `The app ${id} was not in front within ${timeout_ms} ms. Look at the screen, or raise timeout_ms.`,
      );
    },
  }),
  defineCommand({
    ...portable.close_app,
    async run({ app }, signal) {
      const id = idOf(app);
      const { sentAt } = await sendInput(() => tv.request("ssap://system.launcher/close", { id }, signal));
      return { message: `closed the app ${id}`, sentAt };
    },
  }),
];

const appsSchema = z.array(
  z.object({ id: z.string(), title: z.string().optional(), version: z.string().optional() }),
);
const createApps = (tv: Ssap): AppSource => ({
  async installedApps(signal) {
    const { payload } = await tv.request("ssap://com.webos.applicationManager/listApps", {}, signal);
    const apps = appsSchema.catch([]).parse(payload.apps);
    return {
      apps: apps.map(({ id, title, version }) => ({
        id,
        ...(title !== undefined && { name: title }),
        ...(version !== undefined && { version }),
      })),
    };
  },
});

const partsOf = (context: ControllerContext): Parts => ({
  reach: context,
  device: context.deviceId,
  pairing: () => context.pairing("webos"),
});

/** LG's TVs by SSAP, once paired. */
export const webosFactory = defineRemote({
  name: "webos",
  settings,
  example: { address: "127.0.0.1" },
  claims: ({ address }) => [`webos:${address}`],
  diagnose: (
    { address: host, secure, port = secure ? 3001 : 3000 }: Settings,
    context: DiagnosisContext,
  ): Promise<DiagnosisFinding[]> => diagnosePaired({ what: "LG TV", host, port }, context),
  create(given, context) {
    const tv = new Ssap(given, partsOf(context));
    return {
      keys: keyMap(keyTables.webos, given.keys),
      link: createLink(tv),
      commands: appCommands(tv),
      apps: createApps(tv),
    };
  },
});

/** Pairs with the TV of these settings of the driver. Throws DEVICE_OFFLINE, DEVICE_UNAUTHORIZED, COMMAND_TIMEOUT. */
export async function pairWebos(
  given: unknown,
  parts: Omit<Parts, "pairing">,
  ms: number,
  signal: AbortSignal,
  asked: () => void,
): Promise<Pairing> {
  const tv = new Ssap(settings.parse(given), { ...parts, pairing: async () => undefined });
  try {
    return await tv.pair(ms, signal, asked);
  } finally {
    tv.close();
  }
}
