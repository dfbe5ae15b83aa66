import type { Pairing } from "../contract.ts";
import { pairSamsung } from "./samsung.ts";
import { pairWebos } from "./webos.ts";
import type { Reach } from "./wire/sockets.ts";

/** Drivers whose TV has to accept this server once. */
export const pairingDrivers: readonly string[] = ["webos", "samsung"];

/**
 * Has a TV ask the person in front of it to accept this server, and waits up to a minute for the answer. `settings` are those of the
 * driver, one of {@link pairingDrivers}. Throws URL_DENIED, DEVICE_OFFLINE, DEVICE_UNAUTHORIZED, COMMAND_TIMEOUT.
 */
export function pairTv(
  driver: string,
  settings: unknown,
  { reach, device, asked, ms = 60_000 }: { reach: Reach; device: string; asked(): void; ms?: number },
  signal: AbortSignal,
): Promise<Pairing> {
  if (driver === "webos") return pairWebos(settings, { reach, device }, ms, signal, asked);
  asked();
  return pairSamsung(settings, { reach, device }, ms, signal);
}
