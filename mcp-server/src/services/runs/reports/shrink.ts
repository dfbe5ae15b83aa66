import type { Picture } from "./types.ts";

/** Wide enough to read a page in a report's column on a dense screen. The artifact has it whole. */
const widest = 1_080;

/**
 * A picture for a report: WebP, about a tenth of the screenshot's size, so that a report of a hundred steps opens and
 * can be sent. One that cannot be read stays as it is.
 */
export async function shrink(picture: Picture): Promise<Picture> {
  // Loaded when first needed: a server without reports does without it.
  const { default: sharp } = await import("sharp");
  try {
    const bytes = await sharp(picture.bytes)
      .resize({ width: widest, withoutEnlargement: true })
      .webp({ quality: 75, effort: 2 })
      .toBuffer();
    return bytes.byteLength < picture.bytes.byteLength ? { mimeType: "image/webp", bytes } : picture;
  } catch {
    return picture;
  }
}
