import type { ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Frame, Rect, Space } from "../shapes.ts";
import { clipped, rectIn } from "../spaces.ts";
import type { Plane } from "./planes.ts";
import type { Pixels } from "./seen.ts";

/** A reference in the pixels of the picture that it is looked for in. `saved` is where it was cut out; `mask` is 0 where it is transparent. */
export type LoadedReference = { frame: Frame; gray: Plane; rgb: Pixels; mask?: Plane; saved?: Rect };

const opaqueFrom = 250;

/**
 * A reference by its name, at the size that it has in a picture of `now`. Throws REFERENCE_NOT_FOUND; SPACE_MISMATCH where the
 * screen it was cut from has another shape, or where it is larger than the picture; INVALID_PARAMS where all of it is transparent.
 */
export async function loadReference(
  context: ControllerContext,
  name: string,
  now: Space,
  signal: AbortSignal,
): Promise<LoadedReference> {
  const { picture, area, space } = await context.reference(name, signal);
  const from = space && { ...space, rotation: now.rotation };
  const part = from
    ? rectIn(now, { x: 0, y: 0, width: picture.width, height: picture.height }, from)
    : picture;
  const size = { width: Math.max(1, Math.round(part.width)), height: Math.max(1, Math.round(part.height)) };
  if (size.width > now.width || size.height > now.height)
    throw new DeviceError(
      "SPACE_MISMATCH",
      `The reference "${name}" is ${size.width} x ${size.height} pixels and the screen only ${now.width} x ${now.height}. Save the reference again from this screen.`,
      { reference: size, screen: { width: now.width, height: now.height } },
    );
  const saved = area && (from ? rectIn(now, area, from) : area);
  return { frame: picture, ...(await pixelsOf(name, picture, size)), ...(saved && { saved }) };
}

async function pixelsOf(name: string, { bytes }: Frame, size: { width: number; height: number }) {
  const { default: sharp } = await import("sharp");
  const { data } = await sharp(bytes)
    .ensureAlpha()
    .toColourspace("srgb")
    .resize({ ...size, fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const count = size.width * size.height;
  const rgb = new Uint8Array(3 * count);
  const mask = new Uint8Array(count);
  for (let at = 0; at < count; at++) {
    rgb.set(data.subarray(4 * at, 4 * at + 3), 3 * at);
    mask[at] = (data[4 * at + 3] ?? 0) >= opaqueFrom ? 255 : 0;
  }
  if (!mask.some(Boolean))
    throw new DeviceError(
      "INVALID_PARAMS",
      `The reference "${name}" is transparent all over, so there is nothing to compare. Save it again.`,
    );
  const raw = { raw: { ...size, channels: 3 as const } };
  const gray = await sharp(rgb, raw).toColourspace("b-w").raw().toBuffer();
  const isWhole = mask.every(Boolean);
  return {
    gray: { bytes: gray, ...size },
    rgb: { bytes: rgb, ...size },
    ...(!isWhole && { mask: { bytes: mask, ...size } }),
  };
}

/** An area of the screen, or the place where a reference was cut out. */
export type WantedArea = Rect | "saved";

/**
 * The area in whole pixels, grown at each side by `tolerance` and clipped to the screen; undefined for all of it. Throws
 * INVALID_PARAMS where none of it is on the screen, or the reference does not say where it was saved.
 */
export function areaOn(
  now: Space,
  area: WantedArea | undefined,
  tolerance: number,
  { saved, gray }: Pick<LoadedReference, "saved" | "gray">,
): Rect | undefined {
  if (area === undefined) return undefined;
  const wanted = area === "saved" ? saved : area;
  if (!wanted)
    throw new DeviceError(
      "INVALID_PARAMS",
      "It is not known where this reference was saved. Give the area as x, y, width and height.",
    );
  const x = Math.round(wanted.x) - tolerance;
  const y = Math.round(wanted.y) - tolerance;
  const own =
    area === "saved" ? gray : { width: Math.round(wanted.width), height: Math.round(wanted.height) };
  const grown = { x, y, width: own.width + 2 * tolerance, height: own.height + 2 * tolerance };
  const there = clipped(grown, now);
  if (!there)
    throw new DeviceError(
      "INVALID_PARAMS",
      `The area at ${wanted.x}, ${wanted.y} of ${wanted.width} x ${wanted.height} is not on the screen of ${now.width} x ${now.height} pixels. Give one that is.`,
    );
  if (there.width < gray.width || there.height < gray.height)
    throw new DeviceError(
      "INVALID_PARAMS",
      `The reference is ${gray.width} x ${gray.height} pixels and does not fit into an area of ${there.width} x ${there.height}. Give a larger area or tolerance.`,
    );
  return there;
}
