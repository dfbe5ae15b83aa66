import { z } from "zod";
import type { Pairing } from "../contract.ts";
import { keyTables } from "./keyTables.ts";
import {
  defineRemote,
  diagnosePaired,
  hostAndPort,
  hostSchema,
  keyMap,
  keysSchema,
  portSchema,
  type RemoteLink,
} from "./remote.ts";
import { notPaired, offline, pairingFix, unauthorized } from "./wire/failures.ts";
import { readJson } from "./wire/http.ts";
import type { Reach } from "./wire/sockets.ts";
import { openWebSocket, type WebLink } from "./wire/webSocket.ts";

const settings = z.strictObject({ address: hostSchema, port: portSchema.default(8002), keys: keysSchema });
type Settings = z.output<typeof settings>;
type Parts = { reach: Reach; device: string; pairing(): Promise<Pairing | undefined> };

const eventSchema = z.object({
  event: z.string(),
  data: z.object({ token: z.union([z.string(), z.number()]).optional() }).optional(),
});
const ownName = Buffer.from("Labwright").toString("base64");

const placeOf = ({ address, port }: Settings) => ({
  name: `the Samsung TV at ${hostAndPort(address, port)}`,
  check: "Switch the TV on, or correct controllers.samsung.address.",
});

/** Opens the channel of the remote, and waits until the TV has accepted it, for at most `ms`. */
async function openChannel(
  given: Settings,
  { reach, device }: Pick<Parts, "reach" | "device">,
  { pairing, ms }: { pairing?: Pairing; ms: number },
  signal: AbortSignal,
): Promise<{ link: WebLink; token: string | undefined }> {
  const place = placeOf(given);
  const token = pairing === undefined ? "" : `&token=${encodeURIComponent(pairing.token)}`;
  const path = `/api/v2/channels/samsung.remote.control?name=${encodeURIComponent(ownName)}${token}`;
  const fix = `${pairingFix(device)}, and accept it on the TV.`;
  const peer = { ...place, host: given.address, port: given.port, isSecure: true, path };
  const link = await openWebSocket(peer, { reach, pinned: pairing?.certificate, fix }, signal);
  const find = (text: string) => {
    const message = eventSchema.safeParse(readJson(text));
    if (!message.success) return undefined;
    const { event, data } = message.data;
    if (event === "ms.channel.connect")
      return { token: data?.token === undefined ? undefined : String(data.token) };
    if (event === "ms.channel.unauthorized")
      throw unauthorized(place, "it has forgotten this server, or the answer was no", fix);
    if (event === "ms.channel.timeOut") throw unauthorized(place, "no one answered its question", fix);
    return undefined;
  };
  try {
    return { link, ...(await link.exchange.expect(find, ms, signal)) };
  } catch (error) {
    link.exchange.close();
    throw error;
  }
}

function createLink(given: Settings, parts: Parts): RemoteLink {
  const place = placeOf(given);
  let link: WebLink | undefined;
  const send = (cmd: "Click" | "Press" | "Release", code: string, signal: AbortSignal) => {
    if (link === undefined) throw offline(place, "it is not connected");
    const params = { Cmd: cmd, DataOfCmd: code, Option: "false", TypeOfRemote: "SendRemoteKey" };
    return link.send(JSON.stringify({ method: "ms.remote.control", params }), signal);
  };
  return {
    async connect(signal) {
      const pairing = await parts.pairing();
      if (pairing === undefined) throw notPaired(place, parts.device);
      link = (await openChannel(given, parts, { pairing, ms: 5_000 }, signal)).link;
      return { make: "Samsung" };
    },
    async disconnect() {
      link?.exchange.close();
      link = undefined;
    },
    isConnected: () => link?.exchange.isOpen() ?? false,
    // An empty message: the TV reads it and does nothing.
    ask: async (signal) => link?.send("{}", signal),
    press: async (code, signal) => send("Click", code, signal),
    hold: {
      down: async (code, signal) => send("Press", code, signal),
      up: async (code, signal) => send("Release", code, signal),
    },
  };
}

/** Samsung's TVs with Tizen, once paired. */
export const samsungFactory = defineRemote({
  name: "samsung",
  settings,
  example: { address: "127.0.0.1" },
  claims: ({ address }) => [`samsung:${address}`],
  diagnose: ({ address: host, port }, context) => diagnosePaired({ what: "Samsung TV", host, port }, context),
  create: (given, context) => ({
    keys: keyMap(keyTables.samsung, given.keys),
    link: createLink(given, {
      reach: context,
      device: context.deviceId,
      pairing: () => context.pairing("samsung"),
    }),
  }),
});

/** Pairs with the TV of these settings of the driver. Throws DEVICE_OFFLINE, DEVICE_UNAUTHORIZED, COMMAND_TIMEOUT. */
export async function pairSamsung(
  given: unknown,
  parts: Omit<Parts, "pairing">,
  ms: number,
  signal: AbortSignal,
): Promise<Pairing> {
  const own = settings.parse(given);
  const { link, token } = await openChannel(own, parts, { ms }, signal);
  link.exchange.close();
  if (token === undefined)
    throw unauthorized(
      placeOf(own),
      "it gave no token",
      "On the TV open Settings, General, External Device Manager, and set Access Notification to First Time Only.",
    );
  return { token, ...(link.fingerprint !== undefined && { certificate: link.fingerprint }) };
}
