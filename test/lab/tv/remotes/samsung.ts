import { createServer } from "node:https";
import { WebSocketServer } from "ws";
import { listenOn } from "./listen.ts";

/** A Samsung TV by its channel of the remote, with a certificate of its own. It trusts the one who has its token. */
export async function startSamsung(certificate: { key: string; cert: string }) {
  const keys: string[] = [];
  const tv = { accepts: true, token: "", isSilent: false };
  const server = createServer(certificate);
  const channel = new WebSocketServer({
    server,
    path: "/api/v2/channels/samsung.remote.control",
    autoPong: false,
  });
  channel.on("connection", (web, request) => {
    const { searchParams } = new URL(request.url ?? "", "wss://tv");
    const say = (event: string, data: object = {}) => web.send(JSON.stringify({ event, data }));
    const given = searchParams.get("token");
    const isKnown = tv.token !== "" && given === tv.token;
    if (tv.isSilent) return;
    // A wrong token is refused; who has none is asked about.
    if (!isKnown && (given !== null || !tv.accepts)) return say("ms.channel.unauthorized");
    if (!isKnown) tv.token = "51823407";
    say("ms.channel.connect", { clients: [], id: "x", ...(isKnown ? {} : { token: tv.token }) });
    web.on("ping", (data) => tv.isSilent || web.pong(data));
    web.on("message", (data) => {
      const { method, params } = JSON.parse(String(data));
      if (method === "ms.remote.control") keys.push(`${params.Cmd} ${params.DataOfCmd}`);
    });
  });
  return { keys, tv, ...(await listenOn(server)) };
}
