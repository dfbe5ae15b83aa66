import { z } from "zod";
import type { Pairing } from "../contract.ts";
import { orClose } from "../wire/exchange.ts";
import { unauthorized } from "../wire/failures.ts";
import { readJson } from "../wire/json.ts";
import { hostAndPort } from "../wire/sockets.ts";
import { openWebSocket, type WebLink, type WebPeer } from "../wire/webSocket.ts";
import { keyTables } from "./keyTables.ts";
import { diagnosePaired, needPairing, type PairingQuestion, type PairTv, pairingFix } from "./paired.ts";
import { type Access, defineRemote, type RemoteLink } from "./remote.ts";
import { hostSchema, keyMap, keysSchema, portSchema } from "./settings.ts";

const settings = z.strictObject({ address: hostSchema, port: portSchema.default(8002), keys: keysSchema() });
type Settings = z.output<typeof settings>;

const eventSchema = z.object({
  event: z.string(),
  data: z.object({ token: z.union([z.string(), z.number()]).optional() }).optional(),
});
const acceptMs = 5_000;
const askOnce =
  "On the TV open Settings, General, External Device Manager, and set Access Notification to First Time Only.";
const ownName = encodeURIComponent(Buffer.from("Labwright").toString("base64"));

const peerOf = ({ address: host, port }: Settings): WebPeer => ({
  name: `the Samsung TV at ${hostAndPort(host, port)}`,
  check: "Switch the TV on, or correct controllers.samsung.address.",
  ...{ host, port, isSecure: true, path: `/api/v2/channels/samsung.remote.control?name=${ownName}` },
});

/** Opens the channel of the remote, and waits until the TV has accepted it. Without a pairing, the TV asks the person in front of it. */
async function openChannel(
  peer: WebPeer,
  access: Access,
  { pairing, ms, asked }: PairingQuestion & { pairing?: Pairing },
  signal: AbortSignal,
): Promise<{ link: WebLink; token: string }> {
  const path = pairing ? `${peer.path}&token=${encodeURIComponent(pairing.token)}` : peer.path;
  const fix = `${pairingFix(access.device)}, and accept it on the TV.`;
  const given = { reach: access, pinned: pairing?.certificate, fix };
  const link = await openWebSocket({ ...peer, path }, given, signal);
  const find = (text: string) => {
    const { event, data } = readJson(eventSchema, text) ?? {};
    if (event === "ms.channel.unauthorized")
      throw unauthorized(peer, "it has forgotten this server, or the answer was no", fix);
    if (event === "ms.channel.timeOut") throw unauthorized(peer, "no one answered its question", fix);
    if (event !== "ms.channel.connect") return undefined;
    // A TV that knows this server repeats no token.
    const token = data?.token?.toString() ?? pairing?.token;
    if (token === undefined) throw unauthorized(peer, "it gave no token", askOnce);
    return { token };
  };
  asked();
  return { link, ...(await orClose(link.exchange, () => link.exchange.expect(find, ms, signal))) };
}

async function connect(given: Settings, access: Access, signal: AbortSignal): Promise<RemoteLink> {
  const peer = peerOf(given);
  const pairing = await needPairing(peer, access);
  const { link } = await openChannel(peer, access, { pairing, ms: acceptMs, asked() {} }, signal);
  const send = (cmd: "Click" | "Press" | "Release", code: string, own: AbortSignal) => {
    const params = { Cmd: cmd, DataOfCmd: code, Option: "false", TypeOfRemote: "SendRemoteKey" };
    return link.send(JSON.stringify({ method: "ms.remote.control", params }), own);
  };
  return {
    facts: { make: "Samsung" },
    connection: link.exchange,
    // An empty message: the TV reads it and does nothing.
    ask: (own) => link.send("{}", own),
    press: (code, own) => send("Click", code, own),
    hold: {
      down: (code, own) => send("Press", code, own),
      up: (code, own) => send("Release", code, own),
    },
  };
}

/** Samsung's TVs with Tizen, once paired. */
export const samsungFactory = defineRemote({
  ...{ name: "samsung", what: "Samsung TV", settings, holds: true, connect },
  claims: ({ address }) => [`samsung:${address}`],
  keys: ({ keys }) => keyMap(keyTables.samsung, keys),
  diagnose: (given, context) => diagnosePaired("Samsung TV", peerOf(given), context),
});

export const pairSamsung: PairTv = (given, access, question, signal) =>
  openChannel(peerOf(settings.parse(given)), access, question, signal);
