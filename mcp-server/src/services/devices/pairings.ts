import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pairing } from "@labwright/controllers";
import { z } from "zod";

const pairingSchema = z.strictObject({ token: z.string().min(1), certificate: z.string().optional() });

/** What TVs gave when they were paired, by the name of the device and its driver. One file each, which only this user can read. */
export type Pairings = {
  /** Undefined where there is none, or the file is damaged: the TV is paired anew then. */
  find(device: string, driver: string): Promise<Pairing | undefined>;
  /** Replaces what was there. */
  keep(device: string, driver: string, pairing: Pairing): Promise<void>;
};

/** `learn` gets each token that is read, so that it is masked. */
export function createPairings(
  dataDir: string,
  learn: (name: string, token: string) => void = () => {},
): Pairings {
  const folder = join(dataDir, "pairings");
  const fileOf = (device: string, driver: string) =>
    join(folder, `${encodeURIComponent(device)}.${driver}.json`);
  return {
    async find(device, driver) {
      try {
        const pairing = pairingSchema.parse(JSON.parse(await readFile(fileOf(device, driver), "utf8")));
        learn(`pairing of ${device}`, pairing.token);
        const { token, certificate } = pairing;
        return { token, ...(certificate !== undefined && { certificate }) };
      } catch {
        return undefined;
      }
    },
    async keep(device, driver, pairing) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      const file = fileOf(device, driver);
      const fresh = `${file}.${process.pid}`;
      await writeFile(fresh, `${JSON.stringify(pairing)}\n`, { mode: 0o600 });
      await rename(fresh, file);
    },
  };
}
