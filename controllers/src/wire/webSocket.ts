import { once } from "node:events";
import type { Socket } from "node:net";
import type { Moment } from "../ports.ts";
import { withDeadline } from "../waiting/deadlines.ts";
import { Exchange, type Transport } from "./exchange.ts";
import { offline, reasonOf } from "./failures.ts";
import { connectMs, connectTls, connectTo, hostAndPort, type Peer, type Reach } from "./sockets.ts";

export type WebPeer = Peer & {
  isSecure: boolean;
  /** Path with the query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Messages are bytes: in hexadecimal here. */
  isBinary?: boolean;
  /** Throws what a message that came by itself says went wrong. */
  judge?(message: string): void;
};
/** `send` sends a message that has no answer, and returns when it left, once the other side has read it. */
export type WebLink = {
  exchange: Exchange;
  send(message: string, signal: AbortSignal): Promise<Moment>;
  fingerprint?: string;
};

const mostBytes = 1_000_000;
/** Before the text of a ping, in what the exchange sends and receives. */
const MARK = "\0";

/** Throws URL_DENIED, DEVICE_OFFLINE, DEVICE_UNAUTHORIZED. */
export async function openWebSocket(
  peer: WebPeer,
  given: { reach: Reach; pinned?: string | undefined; fix: string },
  signal: AbortSignal,
): Promise<WebLink> {
  const { WebSocket } = await import("ws");
  const { socket, fingerprint } = peer.isSecure
    ? await connectTls(peer, given, signal)
    : { socket: await connectTo(peer, given.reach, signal), fingerprint: undefined };
  const scheme = peer.isSecure ? "wss" : "ws";
  const web = new WebSocket(`${scheme}://${hostAndPort(peer.host, peer.port)}${peer.path}`, {
    // The certificate was judged before anything is sent.
    createConnection: (): Socket => socket,
    ...(peer.headers && { headers: { ...peer.headers } }),
    perMessageDeflate: false,
    maxPayload: mostBytes,
  });
  const end = () => web.terminate();
  web.on("error", end);
  const transport: Transport = {
    send: (message) =>
      new Promise((resolve, reject) => {
        const [text = "", ping] = message.split(MARK);
        const data = peer.isBinary ? Buffer.from(text, "hex") : text;
        web.send(data, (error) => (error ? reject(error) : resolve(performance.now())));
        if (ping !== undefined) web.ping(ping);
      }),
    onMessage(use) {
      const encoding = peer.isBinary ? "hex" : "utf8";
      web.on("message", (data) => use(Buffer.isBuffer(data) ? data.toString(encoding) : String(data)));
      web.on("pong", (data) => use(MARK + String(data)));
    },
    onClose: (use) => web.on("close", use),
    isOpen: () => web.readyState === WebSocket.OPEN,
    close: end,
  };
  // Listens from now on: a TV may speak at once.
  const exchange = new Exchange(transport, peer);
  const limit = withDeadline(signal, connectMs);
  try {
    await once(web, "open", { signal: limit.signal });
  } catch (error) {
    end();
    socket.destroy();
    signal.throwIfAborted();
    throw offline(peer, limit.over() ? `no answer within ${connectMs / 1_000} s` : reasonOf(error));
  } finally {
    limit.done();
  }
  let sentCount = 0;
  const send: WebLink["send"] = async (message, own) => {
    const mark = `${MARK}${++sentCount}`;
    const isRead = (answer: string) => {
      if (answer === mark) return true;
      peer.judge?.(answer);
      return undefined;
    };
    return (await exchange.ask(message + mark, isRead, own)).sentAt;
  };
  return { exchange, send, ...(fingerprint !== undefined && { fingerprint }) };
}
