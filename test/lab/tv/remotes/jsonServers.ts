import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTcp } from "node:net";
import { text } from "node:stream/consumers";
import { listenOn } from "./listen.ts";

type Call = { method: string; params: object };
const resultOf = ({ method, params }: Call): object => {
  if (method === "Application.GetProperties")
    return { result: { name: "Kodi", version: { major: 20, minor: 1 } } };
  if (method.startsWith("Input.") || method === "JSONRPC.Ping" || method === "Addons.ExecuteAddon")
    return "action" in params && params.action === "nonsense"
      ? { error: { code: -32602, message: "Invalid params." } }
      : { result: "OK" };
  return { error: { code: -32601, message: "Method not found." } };
};

/** Kodi's JSON-RPC by HTTP with a password, and by TCP with notifications in between. */
export async function startKodiRpc() {
  const calls: Call[] = [];
  const answer = (body: string): string => {
    const { id, method, params } = JSON.parse(body);
    calls.push({ method, params });
    return JSON.stringify({ id, jsonrpc: "2.0", ...resultOf({ method, params }) });
  };
  const web = createServer(async (request, response) => {
    const login = `Basic ${Buffer.from("kodi:secret-of-kodi").toString("base64")}`;
    if (request.headers.authorization !== login) return void response.writeHead(401).end();
    response.setHeader("content-type", "application/json").end(answer(await text(request)));
  });
  const tcp = createTcp((socket) => {
    socket.on("data", (data) =>
      socket.write(
        `{"jsonrpc":"2.0","method":"Player.OnPlay","params":{"data":"}{"}}${answer(String(data))}`,
      ),
    );
  });
  const [http, raw] = await Promise.all([listenOn(web), listenOn(tcp)]);
  return {
    calls,
    http: http.port,
    tcp: raw.port,
    close: async () => void (await Promise.all([http.close(), raw.close()])),
  };
}

/** Home Assistant's REST: one remote, one token. */
export async function startHomeAssistant(token: string) {
  const sent: object[] = [];
  const faults = { isUnavailable: false, isRedirecting: false };
  const isTrusted = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${token}`;
  const server = createServer(async (request, response) => {
    const json = (value: object) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    const state = { entity_id: "remote.tv", state: faults.isUnavailable ? "unavailable" : "on" };
    const answers: Record<string, object> = {
      "/api/config": { version: "2026.11.1" },
      "/api/states/remote.tv": state,
    };
    const answer = answers[request.url ?? ""];
    if (faults.isRedirecting)
      return void response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    if (!isTrusted(request)) return void response.writeHead(401).end("401: Unauthorized");
    if (answer) return void json(answer);
    if (request.url !== "/api/services/remote/send_command") return void response.writeHead(404).end();
    sent.push(JSON.parse(await text(request)));
    json([]);
  });
  return { sent, faults, ...(await listenOn(server)) };
}
