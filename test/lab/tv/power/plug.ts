import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { klapPlug } from "./klap.ts";

export const plugKinds = ["tasmota", "shelly1", "shelly2", "home_assistant", "tapo"] as const;
export type PlugKind = (typeof plugKinds)[number];
export const plugLogin = { user: "admin", password: "Of the lab: 1" };

/** `dieWhen`: the plug's network is gone as soon as it was switched to this state. */
export type Plug = {
  url: string;
  host: string;
  isOn: boolean;
  dieWhen?: boolean;
  close(): Promise<void>;
};

type Call = { path: string; query: URLSearchParams; request: IncomingMessage; body: Buffer };
type Reply = { status: number; headers?: Record<string, string>; body?: unknown };
type Turn = (to: boolean) => void;
type Answer = (call: Call, plug: Plug, turn: Turn) => Reply;

const ok = (body: unknown): Reply => ({ status: 200, body });
const unauthorized = (challenge: string): Reply => ({
  status: 401,
  headers: { "www-authenticate": challenge },
});
const notFound: Reply = { status: 404, body: { message: "Not Found" } };

const tasmota: Answer = ({ path, query }, plug, turn) => {
  if (path !== "/cm") return notFound;
  if (query.get("user") !== plugLogin.user || query.get("password") !== plugLogin.password)
    return ok({ WARNING: "Need user=<username>&password=<password>" });
  const [command, value] = (query.get("cmnd") ?? "").split(" ");
  if (command !== "Power1") return ok({ Command: "Unknown" });
  if (value) turn(value.toLowerCase() === "on");
  return ok({ POWER: plug.isOn ? "ON" : "OFF" });
};

const shelly1: Answer = ({ path, query, request }, plug, turn) => {
  const { user, password } = plugLogin;
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  if (request.headers.authorization !== wanted) return unauthorized('Basic realm="shelly1"');
  if (path !== "/relay/0") return notFound;
  if (query.has("turn")) turn(query.get("turn") === "on");
  return ok({ ison: plug.isOn, has_timer: false, source: "http" });
};

const nonce = randomBytes(8).toString("hex");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function isDigestRight({ headers, method, url = "" }: IncomingMessage): boolean {
  const parts = [...(headers.authorization ?? "").matchAll(/(\w+)="?([^",]*)"?/g)];
  const said = new Map(parts.map(([, name = "", value = ""]) => [name, value]));
  const secret = sha256(`${plugLogin.user}:shelly2-lab:${plugLogin.password}`);
  const counts = [said.get("nc"), said.get("cnonce"), "auth"];
  const response = sha256([secret, nonce, ...counts, sha256(`${method}:${url}`)].join(":"));
  return said.get("response") === response && said.get("uri") === url;
}

const shelly2: Answer = ({ path, query, request }, plug, turn) => {
  if (!isDigestRight(request))
    return unauthorized(`Digest qop="auth", realm="shelly2-lab", nonce="${nonce}", algorithm=SHA-256`);
  if (query.get("id") !== "0") return { status: 500, body: { code: -105, message: "no such id" } };
  if (path === "/rpc/Switch.GetStatus") return ok({ id: 0, output: plug.isOn, source: "init" });
  if (path !== "/rpc/Switch.Set") return notFound;
  const was_on = plug.isOn;
  turn(query.get("on") === "true");
  return ok({ was_on });
};

const homeAssistant: Answer = ({ path, request, body }, plug, turn) => {
  if (request.headers.authorization !== `Bearer ${plugLogin.password}`) return { status: 401 };
  if (path === "/api/states/switch.tv_plug")
    return ok({ entity_id: "switch.tv_plug", state: plug.isOn ? "on" : "off", attributes: {} });
  const [, to] = /^\/api\/services\/homeassistant\/turn_(on|off)$/.exec(path) ?? [];
  if (to === undefined || request.method !== "POST") return notFound;
  if (JSON.parse(body.toString()).entity_id === "switch.tv_plug") turn(to === "on");
  return ok([]);
};

/** Starts a plug that is on, at a free port of loopback. */
export async function startPlug(kind: PlugKind): Promise<Plug> {
  const klap = klapPlug(plugLogin.user, plugLogin.password, (asked) => {
    const { method, params } = asked as { method: string; params?: { device_on: boolean } };
    if (method === "set_device_info" && params) turn(params.device_on);
    const result = method === "get_device_info" ? { device_on: plug.isOn, nickname: "", ssid: "" } : {};
    return { error_code: 0, result };
  });
  const tapo: Answer = ({ path, query, request, body }) => {
    const { status, body: bytes, cookie } = klap(path, query, request.headers.cookie ?? "", body);
    return { status, body: bytes, headers: cookie === undefined ? {} : { "set-cookie": cookie } };
  };
  const byKind = { tasmota, shelly1, shelly2, home_assistant: homeAssistant, tapo };
  const server = createServer(async (request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://plug");
    const body = await buffer(request);
    const reply = byKind[kind]({ path, query, request, body }, plug, turn);
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.body instanceof Uint8Array ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  const turn: Turn = (to) => {
    plug.isOn = to;
    if (plug.dieWhen !== to) return;
    server.close();
    setImmediate(() => server.closeAllConnections());
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const plug: Plug = {
    ...{ url: `http://${host}`, host, isOn: true },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return plug;
}
