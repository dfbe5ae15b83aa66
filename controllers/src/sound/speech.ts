import { z } from "zod";
import type { InstalledAddons } from "../contract.ts";
import type { Sound } from "../ports.ts";

export const speechAddon = "speech";
/** Silero's own: what is likelier than this is speech, and less than this in one piece is not. */
const likelyFrom = 0.5;
const leastMs = 250;
/** Of one window, and the error of every time that is made of them. */
export const windowMs = 32;

type SpeechIn = (samples: Float32Array, signal: AbortSignal) => Promise<Float32Array>;
const doorSchema = z.object({ speechIn: z.custom<SpeechIn>((value) => typeof value === "function") });

/** How long speech lasts in a sound, in milliseconds, in pieces of at least 250 ms. Throws ADDON_MISSING, ADDON_UNUSABLE. */
export async function speechMs(
  { samples }: Sound,
  addons: InstalledAddons,
  signal: AbortSignal,
): Promise<number> {
  const { speechIn } = doorSchema.parse(await addons.load(speechAddon));
  let [total, piece] = [0, 0];
  // The last window ends the last piece.
  for (const likely of [...(await speechIn(samples, signal)), 0]) {
    if (likely > likelyFrom) piece += windowMs;
    else {
      if (piece >= leastMs) total += piece;
      piece = 0;
    }
  }
  return total;
}
