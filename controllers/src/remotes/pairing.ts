import type { Pairing } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Reach } from "../wire/sockets.ts";
import { pairSamsung } from "./samsung.ts";
import { pairWebos } from "./webos.ts";

const pairs = { webos: pairWebos, samsung: pairSamsung };

/** Drivers whose TV has to accept this server once. */
export const pairingDrivers: readonly string[] = Object.keys(pairs);

/**
 * Has a TV ask the person in front of it to accept this server, and waits up to a minute for the answer. `settings` are those of the
 * driver, one of {@link pairingDrivers}. `asked` is called when the TV shows its question. Throws URL_DENIED, DEVICE_OFFLINE,
 * DEVICE_UNAUTHORIZED, COMMAND_TIMEOUT.
 */
export async function pairTv(
  driver: string,
  settings: unknown,
  { reach, device, asked, ms = 60_000 }: { reach: Reach; device: string; asked(): void; ms?: number },
  signal: AbortSignal,
): Promise<Pairing> {
  const pair = driver === "webos" ? pairs.webos : pairs.samsung;
  const access = { ...reach, device, pairing: async () => undefined };
  try {
    const { link, token } = await pair(settings, access, { ms, asked }, signal);
    await link.exchange.close();
    return { token, ...(link.fingerprint !== undefined && { certificate: link.fingerprint }) };
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "COMMAND_TIMEOUT") throw error;
    throw new DeviceError(
      "COMMAND_TIMEOUT",
      `No one accepted Labwright on the TV within ${ms / 1_000} s. Run it again, and accept the question on the TV with the TV's own remote.`,
    );
  }
}
