import { lookup } from "node:dns";
import { once } from "node:events";
import { connect, type LookupFunction, type Socket } from "node:net";
import { connect as startTls } from "node:tls";
import type { ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { withDeadline } from "../waiting/deadlines.ts";
import { offline, type Place, reasonOf, unauthorized } from "./failures.ts";

/** Which addresses may be reached; both throw URL_DENIED. */
export type Reach = Pick<ControllerContext, "allowHost" | "allowAddress">;
export type Peer = Place & { host: string; port: number };
/** Where `url_policy` is not known: addresses come from the configuration. */
export const anywhere: Reach = { allowHost: () => undefined, allowAddress: () => undefined };

/** A TV on the local network accepts a connection within this time. */
export const connectMs = 5_000;

/** Judges the very addresses that are connected to. */
export const lookupBy =
  (reach: Reach): LookupFunction =>
  (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const denied = error ?? denialOf(found, reach);
      const [first] = found ?? [];
      if (denied || first === undefined) done(denied ?? new Error("it has no address"), "");
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });

function denialOf(found: readonly { address: string }[], { allowAddress }: Reach): Error | undefined {
  try {
    for (const { address } of found) allowAddress(address);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Throws URL_DENIED, DEVICE_OFFLINE. */
export function connectTo(peer: Peer, reach: Reach, signal: AbortSignal): Promise<Socket> {
  const { host, port } = peer;
  reach.allowHost(host, port);
  return opened(connect({ host, port, lookup: lookupBy(reach), noDelay: true }), "connect", peer, signal);
}

/** A socket of this machine. Throws DEVICE_OFFLINE. */
export const connectLocal = (path: string, place: Place, signal: AbortSignal): Promise<Socket> =>
  opened(connect({ path }), "connect", place, signal);

/**
 * TLS with a TV, whose certificate no authority has signed. With `pinned`, a SHA-256 fingerprint, only the TV with that certificate
 * is sent anything. Throws what {@link connectTo} throws, and DEVICE_UNAUTHORIZED.
 */
export async function connectTls(
  peer: Peer,
  { reach, pinned, fix }: { reach: Reach; pinned?: string | undefined; fix: string },
  signal: AbortSignal,
): Promise<{ socket: Socket; fingerprint: string }> {
  const plain = await connectTo(peer, reach, signal);
  const secure = startTls({ socket: plain, rejectUnauthorized: false });
  const socket = await opened(secure, "secureConnect", peer, signal);
  const fingerprint = secure.getPeerCertificate().fingerprint256;
  if (pinned === undefined || pinned === fingerprint) return { socket, fingerprint };
  socket.destroy();
  throw unauthorized(peer, "its certificate is not the one that it was paired with", fix);
}

async function opened<S extends Socket>(socket: S, event: string, place: Place, signal: AbortSignal) {
  const limit = withDeadline(signal, connectMs);
  socket.on("error", () => undefined);
  try {
    await once(socket, event, { signal: limit.signal });
    return socket;
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    if (error instanceof DeviceError) throw error;
    throw offline(place, limit.over() ? `no connection within ${connectMs / 1_000} s` : reasonOf(error));
  } finally {
    limit.done();
  }
}

/** The address of a host and port, as in URLs. */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
