import { z } from "zod";
import { sendInput } from "../dispatch.ts";
import { askPeer, type HttpPeer } from "../wire/http.ts";
import { hostAndPort } from "../wire/sockets.ts";
import { type Apps, appCommands, appSource } from "./apps.ts";
import { keyTables } from "./keyTables.ts";
import { type Access, defineRemote, type RemoteLink } from "./remote.ts";
import { hostSchema, keyMap, keysSchema, portSchema } from "./settings.ts";

const settings = z.strictObject({ address: hostSchema, port: portSchema.default(8060), keys: keysSchema() });

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const plain = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (all, name: string) => entities[name] ?? all);
const tag = (xml: string, name: string) =>
  plain(new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "");

const appTag = /<app(?: id="([^"]*)")?((?: [\w-]+="[^"]*")*)>([^<]*)<\/app>/g;
const appsIn = (xml: string) =>
  [...xml.matchAll(appTag)].map(([, id = "", more = "", name = ""]) => {
    const [, version] = / version="([^"]*)"/.exec(more) ?? [];
    return { id: plain(id), name: plain(name), ...(version !== undefined && { version }) };
  });

async function connect(
  { address, port }: z.output<typeof settings>,
  reach: Access,
  signal: AbortSignal,
): Promise<RemoteLink & { apps: Apps }> {
  const peer: HttpPeer = {
    name: `the Roku at ${hostAndPort(address, port)}`,
    check: "Switch it on, or correct controllers.roku.address.",
    root: `http://${hostAndPort(address, port)}`,
    reach,
    denied: {
      reason: "it allows no remote by network",
      fix: "On the Roku open Settings, System, Advanced system settings, Control by mobile apps, and set Network access to Enabled.",
    },
    mend: "Check the code of the key, or the number of the app.",
  };
  const read = async (what: string, own: AbortSignal) =>
    (await askPeer(peer, `/query/${what}`, {}, own)).text;
  const act = async (path: string, own: AbortSignal) =>
    (await askPeer(peer, path, { method: "POST" }, own)).sentAt;
  const key = (how: string, code: string, own: AbortSignal) =>
    act(`/key${how}/${encodeURIComponent(code)}`, own);
  const front = async (own: AbortSignal) => appsIn(await read("active-app", own))[0]?.id;
  const apps: Apps = {
    front,
    open: (id, own) => act(`/launch/${id}`, own),
    async close(id, own) {
      if ((await front(own)) !== id) return { message: `the app ${id} is not in front` };
      return {
        message: `left the app ${id} by HOME`,
        sentAt: await sendInput(() => key("press", "Home", own)),
      };
    },
    list: async (own) => appsIn(await read("apps", own)),
  };
  const info = await read("device-info", signal);
  const make = [tag(info, "vendor-name"), tag(info, "model-name")].filter(Boolean).join(" ");
  return {
    facts: { make, version: tag(info, "software-version") },
    apps,
    ask: (own) => read("device-info", own),
    press: (code, own) => key("press", code, own),
    hold: {
      down: (code, own) => key("down", code, own),
      up: (code, own) => key("up", code, own),
    },
  };
}

/** Roku players and TVs by the External Control Protocol. */
export const rokuFactory = defineRemote({
  ...{ name: "roku", what: "Roku", settings, holds: true, connect },
  claims: ({ address, port }) => [`roku:${hostAndPort(address, port)}`],
  keys: ({ keys }) => keyMap(keyTables.roku, keys),
  commands: (use) => appCommands(use, "A Roku finds an app by the number of its channel, such as 12."),
  apps: appSource,
});
