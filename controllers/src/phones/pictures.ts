import type { Frame, Rect, ScreenSource, Space } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { ScreenReader } from "../screens/reader.ts";
import { clipped } from "../spaces.ts";

/** Loaded with the first picture: its libraries cost 30 MB. */
export const loadSharp = async () => (await import("sharp")).default;

const jpegQuality = 85;

/** A picture of the whole screen: a file, or with `raw` its pixels of four bytes. `scale`: pixels of a unit of the tree. */
export type Taken = { bytes: Buffer; raw?: boolean; space: Space; scale: number };

/** Crops and encodes the pictures that a driver takes. */
export const screenSource = (
  reader: ScreenReader,
  take: (signal: AbortSignal) => Promise<Taken>,
): ScreenSource => ({
  async capture({ area, ref, format }, signal): Promise<Frame> {
    const { bytes, raw, space, scale } = await take(signal);
    const takenAt = new Date().toISOString();
    const { width, height, rotation } = space;
    const sharp = await loadSharp();
    const picture = sharp(bytes, raw ? { raw: { width, height, channels: 4 } } : {});
    const wanted = ref === undefined ? area : scaled(await reader.rectOf(ref, signal), scale);
    if (wanted) picture.extract(partOf(wanted, space));
    picture.removeAlpha();
    if (format === "jpeg") picture.jpeg({ quality: jpegQuality });
    else picture.png({ compressionLevel: 3 });
    const { data, info } = await picture.toBuffer({ resolveWithObject: true });
    const mimeType = format === "jpeg" ? "image/jpeg" : "image/png";
    return { mimeType, bytes: data, width: info.width, height: info.height, rotation, takenAt };
  },
});

const scaled = ({ x, y, width, height }: Rect, by: number): Rect => ({
  ...{ x: x * by, y: y * by },
  ...{ width: width * by, height: height * by },
});

/** In whole pixels. Throws INVALID_PARAMS for a part beyond the screen. */
function partOf(wanted: Rect, space: Space) {
  const part = clipped(wanted, space);
  if (part === undefined)
    throw new DeviceError("INVALID_PARAMS", "The area lies beyond the screen. Give one that is on it.");
  return {
    ...{ left: Math.floor(part.x), top: Math.floor(part.y) },
    ...{ width: Math.max(1, Math.floor(part.width)), height: Math.max(1, Math.floor(part.height)) },
  };
}
