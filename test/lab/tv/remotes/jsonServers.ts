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
  const faults = { isSilent: false };
  const answer = (body: string): string => {
    const { id, method, params } = JSON.parse(body);
    calls.push({ method, params });
    return JSON.stringify({ id, jsonrpc: "2.0", ...resultOf({ method, params }) });
  };
  const web = createServer(async (request, response) => {
    const login = `Basic ${Buffer.from("kodi:secret-of-kodi").toString("base64")}`;
    if (request.headers.authorization !== login) return void response.writeHead(401).end();
    const said = answer(await text(request));
    if (!faults.isSilent) response.setHeader("content-type", "application/json").end(said);
  });
  const tcp = createTcp((socket) => {
    socket.on("data", (data) => {
      const said = answer(String(data));
      const event = `{"jsonrpc":"2.0","method":"Player.OnPlay","params":{"data":"}{"}}`;
      socket.write(faults.isSilent ? event : event + said);
    });
  });
  const [http, raw] = await Promise.all([listenOn(web), listenOn(tcp)]);
  return {
    ...{ calls, faults },
    http: http.port,
    tcp: raw.port,
    close: async () => void (await Promise.all([http.close(), raw.close()])),
  };
}

/** Home Assistant's REST: one remote, one token. */
export async function startHomeAssistant(token: string) {
  const sent: { command: string }[] = [];
  const faults = { isUnavailable: false, isRedirecting: false, isSilent: false };
  const isTrusted = ({ headers }: IncomingMessage) => headers.authorization === `Bearer ${token}`;
  const send = async (request: IncomingMessage) => {
    const command = JSON.parse(await text(request));
    if (command.command === "odd") return { status: 500, body: "500 Internal Server Error" };
    sent.push(command);
    return faults.isSilent ? undefined : { status: 200, body: "[]" };
  };
  const answerTo = async (request: IncomingMessage) => {
    const { url = "" } = request;
    if (!isTrusted(request)) return { status: 401, body: "401: Unauthorized" };
    const state = { entity_id: "remote.tv", state: faults.isUnavailable ? "unavailable" : "on" };
    if (url === "/api/states/remote.tv") return { status: 200, body: JSON.stringify(state) };
    if (url === "/api/config") return { status: 200, body: `{"version":"2026.11.1"}` };
    return url === "/api/services/remote/send_command" ? send(request) : { status: 404, body: "" };
  };
  const server = createServer(async (request, response) => {
    if (faults.isRedirecting)
      return void response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    const answer = await answerTo(request);
    if (answer) response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  return { sent, faults, ...(await listenOn(server)) };
}
