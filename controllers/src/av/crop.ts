import type { Frame, Rect } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { clipped } from "../spaces.ts";

/** The part of a picture. Throws INVALID_PARAMS for one outside of it. */
export async function cropped(picture: Frame, area: Rect): Promise<Frame> {
  const part = clipped(area, picture);
  if (!part || part.width < 1 || part.height < 1)
    throw new DeviceError(
      "INVALID_PARAMS",
      `The area lies outside the picture of ${picture.width}x${picture.height}; correct it.`,
    );
  const { default: sharp } = await import("sharp");
  const box = {
    left: Math.floor(part.x),
    top: Math.floor(part.y),
    width: Math.floor(part.width),
    height: Math.floor(part.height),
  };
  const bytes = await sharp(picture.bytes).extract(box).png().toBuffer();
  return { ...picture, bytes, width: box.width, height: box.height, mimeType: "image/png" };
}
