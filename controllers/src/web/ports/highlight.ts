import type { Frame, Rect } from "../../contract.ts";

const colour = "#d7263d";
/** In pixels of the picture. */
const STROKE = 4;

/** The picture with a frame around `box`, which is in its pixels. The library is loaded for the first one. */
export async function withFrame(picture: Frame, box: Rect, format: "png" | "jpeg"): Promise<Frame> {
  const { default: sharp } = await import("sharp");
  const { width, height } = picture;
  const [x, y] = [box.x - STROKE / 2, box.y - STROKE / 2];
  const size = `width="${box.width + STROKE}" height="${box.height + STROKE}"`;
  const overlay =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect x="${x}" y="${y}" ${size} fill="none" stroke="${colour}" stroke-width="${STROKE}"/></svg>`;
  const drawn = sharp(picture.bytes).composite([{ input: Buffer.from(overlay) }]);
  return { ...picture, bytes: await drawn.toFormat(format).toBuffer() };
}
