import type { Frame, Rect, ScreenSource, Space } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { ScreenReader } from "../screens/reader.ts";
import { clipped } from "../spaces.ts";

/** Loaded with the first picture: its libraries cost 30 MB. */
const loadSharp = async () => (await import("sharp")).default;

const jpegQuality = 85;
/** A screen of 8K has 33 million. */
const mostPixels = 50_000_000;
/** The beginnings of PNG and JPEG; other formats can name files, or be drawn for minutes. */
const formats = [Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.from([0xff, 0xd8, 0xff])];

/** A picture of the whole screen: a file, or with `raw` its pixels of four bytes. `scale`: pixels of a unit of the tree. */
export type Taken = { bytes: Buffer; raw?: boolean; space: Space; scale: number };

const noPicture = (why: string, cause?: unknown) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The server of the device gave a picture that cannot be used: ${why}. Take it again; if that does not help, restart the server.`,
    {},
    { cause },
  );

/** The size of a picture that a server sent, in pixels. Throws DEVICE_ERROR for other formats and for more than 50 million pixels. */
export async function sizeOf(bytes: Buffer): Promise<{ width: number; height: number }> {
  if (!formats.some((start) => bytes.subarray(0, start.length).equals(start)))
    throw noPicture("it is neither PNG nor JPEG");
  const { width, height } = await (await loadSharp())(bytes)
    .metadata()
    .catch((cause: unknown) => {
      throw noPicture("it is broken", cause);
    });
  if (width * height > mostPixels) throw noPicture(`it has ${width}x${height} pixels`);
  return { width, height };
}

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
    const { data, info } = await picture.toBuffer({ resolveWithObject: true }).catch((cause: unknown) => {
      throw noPicture("it is broken", cause);
    });
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
