import type { Picture } from "./types.ts";

/** Wide enough to read a page in a report's column on a dense screen. The artifact has it whole. */
const widest = 1_080;

/**
 * A picture for a report: WebP, about a tenth of the screenshot's size, so that a report of a hundred steps opens and
 * can be sent. Undefined for bytes that are no picture.
 */
export async function shrink(file: Pick<Picture, "mimeType" | "bytes">): Promise<Picture | undefined> {
  // Loaded when first needed: a server without reports does without it.
  const { default: sharp } = await import("sharp");
  try {
    const { width, height } = await sharp(file.bytes).metadata();
    const bytes = await sharp(file.bytes)
      .resize({ width: widest, withoutEnlargement: true })
      .webp({ quality: 75, effort: 2 })
      .toBuffer();
    const smaller = bytes.byteLength < file.bytes.byteLength ? { mimeType: "image/webp", bytes } : file;
    return { ...smaller, width, height };
  } catch {
    return undefined;
  }
}
