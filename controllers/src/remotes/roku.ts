import { z } from "zod";
import { type AppSource, type Command, defineCommand } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import { poll } from "../waiting/deadlines.ts";
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
import { refused, unauthorized } from "./wire/failures.ts";
import { askHttp } from "./wire/http.ts";
import type { Reach } from "./wire/sockets.ts";

const settings = z.strictObject({ address: hostSchema, port: portSchema.default(8060), keys: keysSchema });
type Settings = z.output<typeof settings>;

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const plain = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (all, name: string) => entities[name] ?? all);
const tag = (xml: string, name: string) => {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text === undefined ? undefined : plain(text);
};

const permit =
  "On the Roku open Settings, System, Advanced system settings, Control by mobile apps, and set Network access to Enabled.";

class Ecp {
  readonly #place;
  readonly #root: string;

  constructor(
    { address, port }: Settings,
    readonly reach: Reach,
  ) {
    this.#root = `http://${hostAndPort(address, port)}`;
    const check = "Switch it on, or correct controllers.roku.address.";
    this.#place = { name: `the Roku at ${hostAndPort(address, port)}`, check };
  }

  async get(path: string, signal: AbortSignal): Promise<string> {
    return (await this.#ask("GET", path, signal)).text;
  }

  async post(path: string, signal: AbortSignal): Promise<number> {
    return (await this.#ask("POST", path, signal)).sentAt;
  }

  async #ask(method: "GET" | "POST", path: string, signal: AbortSignal) {
    const answer = await askHttp(
      { url: `${this.#root}/${path}`, method },
      { place: this.#place, reach: this.reach },
      signal,
    );
    const { status } = answer;
    if (status === 401 || status === 403)
      throw unauthorized(this.#place, `it allows no remote by network (HTTP ${status})`, permit);
    if (status >= 400)
      throw refused(this.#place, `HTTP ${status} for ${path}`, "Check the name of the key or app.");
    return answer;
  }
}

function createLink(ecp: Ecp): RemoteLink {
  let isOpen = false;
  return {
    async connect(signal) {
      const info = await ecp.get("query/device-info", signal);
      isOpen = true;
      const make = [tag(info, "vendor-name"), tag(info, "model-name")].filter(Boolean).join(" ");
      const version = tag(info, "software-version");
      return { make, ...(version !== undefined && { version }) };
    },
    async disconnect() {
      isOpen = false;
    },
    isConnected: () => isOpen,
    ask: (signal) => ecp.get("query/device-info", signal),
    press: (code, signal) => ecp.post(`keypress/${encodeURIComponent(code)}`, signal),
    hold: {
      down: (code, signal) => ecp.post(`keydown/${encodeURIComponent(code)}`, signal),
      up: (code, signal) => ecp.post(`keyup/${encodeURIComponent(code)}`, signal),
    },
  };
}

const appTag = /<app(?: id="([^"]*)")?((?: [\w-]+="[^"]*")*)>([^<]*)<\/app>/g;
const createApps = (ecp: Ecp): AppSource => ({
  async installedApps(signal) {
    const found = [...(await ecp.get("query/apps", signal)).matchAll(appTag)];
    const apps = found.map(([, id = "", more = "", name = ""]) => {
      const [, version] = / version="([^"]*)"/.exec(more) ?? [];
      return { id: plain(id), name: plain(name), ...(version !== undefined && { version }) };
    });
    return { apps };
  },
});

const activeApp = async (ecp: Ecp, signal: AbortSignal) =>
  [...(await ecp.get("query/active-app", signal)).matchAll(appTag)][0]?.[1];

const channelOf = ({ package: id }: { package?: string | undefined }): string => {
  if (id !== undefined && /^[\w.-]{1,100}$/.test(id)) return id;
  throw new DeviceError(
    "INVALID_PARAMS",
    "A Roku finds an app by the number of its channel. Give it as app.package, such as 12.",
  );
};

const appCommands = (ecp: Ecp): Command[] => [
  defineCommand({
    ...portable.open_app,
    async run({ app, timeout_ms }, signal) {
      const id = channelOf(app);
      const sentAt = await sendInput(() => ecp.post(`launch/${id}`, signal));
      const isShown = async () => (await activeApp(ecp, signal)) === id;
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
      const id = channelOf(app);
      if ((await activeApp(ecp, signal)) !== id) return { message: `the app ${id} is not in front` };
      return {
        message: `left the app ${id} by HOME`,
        sentAt: await sendInput(() => ecp.post("keypress/Home", signal)),
      };
    },
  }),
];

/** Roku players and TVs by the External Control Protocol. */
export const rokuFactory = defineRemote({
  name: "roku",
  settings,
  example: { address: "127.0.0.1" },
  claims: ({ address, port }) => [`roku:${hostAndPort(address, port)}`],
  diagnose: async (given, context) => [
    await diagnoseLink("Roku", createLink(new Ecp(given, anywhere)), context),
  ],
  create(given, context) {
    const ecp = new Ecp(given, context);
    return {
      keys: keyMap(keyTables.roku, given.keys),
      link: createLink(ecp),
      commands: appCommands(ecp),
      apps: createApps(ecp),
    };
  },
});
