import type { Frame } from "../shapes.ts";
import type { Plane } from "./planes.ts";
import type { Pixels } from "./seen.ts";

/** As pixelmatch has it: of the largest difference in YIQ that two colours can have. */
const threshold = 0.1;
const largest = 35_215;

/** `share` of the pixels that count differs, from 0 to 1; `differs` is 1 where. */
export type Difference = { share: number; differs: Uint8Array };

/** Compares colours as the eye sees them, pixel by pixel. Both have the same size; pixels where the mask is 0 do not count. */
export function difference(one: Pixels, other: Pixels, mask?: Plane): Difference {
  const count = one.width * one.height;
  const differs = new Uint8Array(count);
  let [counted, different] = [0, 0];
  for (let at = 0; at < count; at++) {
    if (mask && !mask.bytes[at]) continue;
    counted++;
    if (distance(one.bytes, other.bytes, 3 * at) <= largest * threshold * threshold) continue;
    differs[at] = 1;
    different++;
  }
  return { share: counted === 0 ? 0 : different / counted, differs };
}

/** The squared distance in YIQ, weighted as in "Measuring perceived color difference using YIQ" (Kotsarenko and Ramos). */
function distance(one: Uint8Array, other: Uint8Array, at: number): number {
  const red = (one[at] ?? 0) - (other[at] ?? 0);
  const green = (one[at + 1] ?? 0) - (other[at + 1] ?? 0);
  const blue = (one[at + 2] ?? 0) - (other[at + 2] ?? 0);
  const y = red * 0.29889531 + green * 0.58662247 + blue * 0.11448223;
  const i = red * 0.59597799 - green * 0.2741761 - blue * 0.32180189;
  const q = red * 0.21147017 - green * 0.52261711 + blue * 0.31114694;
  return 0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q;
}

/** What was seen, faded, with red where it differs from the reference. */
export async function diffPicture(seen: Pixels, { differs }: Difference, takenAt: string): Promise<Frame> {
  const { width, height } = seen;
  const faded = seen.bytes.map((value) => 255 - ((255 - value) >> 2));
  for (let at = 0; at < differs.length; at++) if (differs[at]) faded.set([255, 0, 0], 3 * at);
  const { default: sharp } = await import("sharp");
  const bytes = await sharp(faded, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  return { mimeType: "image/png", bytes, width, height, rotation: 0, takenAt };
}
