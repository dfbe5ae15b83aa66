import type { Pairing } from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { unauthorized } from "../wire/failures.ts";
import { anywhere, connectTo, type Peer } from "../wire/sockets.ts";
import type { WebLink, WebPeer } from "../wire/webSocket.ts";
import type { Access } from "./remote.ts";

/** How long the TV waits for the person in front of it, and what is called when it asks. */
export type PairingQuestion = { ms: number; asked(): void };

/** Has the TV of these settings ask. Throws DEVICE_OFFLINE, DEVICE_UNAUTHORIZED, COMMAND_TIMEOUT. */
export type PairTv = (
  settings: unknown,
  access: Access,
  question: PairingQuestion,
  signal: AbortSignal,
) => Promise<{ link: WebLink; token: string }>;

/** What a person runs to pair. */
export const pairingFix = (device: string): string =>
  `Run: labwright tv pair ${device.slice(device.lastIndexOf("/") + 1)}`;

/**
 * Throws DEVICE_UNAUTHORIZED where this server was never paired with the TV, or by another kind of connection: a token that came by
 * TLS goes to the TV of that certificate alone.
 */
export async function needPairing(peer: WebPeer, { device, pairing }: Access): Promise<Pairing> {
  const found = await pairing();
  if (found && (found.certificate !== undefined) === peer.isSecure) return found;
  const reason = found ? "it was paired by another kind of connection" : "this server is not paired with it";
  throw unauthorized(peer, reason, `${pairingFix(device)}.`);
}

/** Whether a TV answers, and whether this server is paired with it. Opens no session, which would show a question on its screen. */
export async function diagnosePaired(
  what: string,
  peer: Peer,
  { signal, isPaired }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const pairing: DiagnosisFinding = isPaired
    ? { what: `${what} pairing`, status: "ok", detail: "paired" }
    : {
        what: `${what} pairing`,
        status: "missing",
        detail: "not paired",
        fix: "Run: labwright tv pair <device>",
      };
  try {
    (await connectTo(peer, anywhere, signal)).destroy();
    return [{ what, status: "ok", detail: "it answers" }, pairing];
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [{ what, status: "missing", detail, fix: peer.check }, pairing];
  }
}
