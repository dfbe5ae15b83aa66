import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { VideoFrame } from "../ports.ts";

const columns = 3;
const captionHeight = 18;

/** A frame, and what it is evidence of: letters, digits and signs that need no escape in XML. */
export type Captioned = { caption: string; frame: VideoFrame };

/** Writes the frames (gray, all of one size) in rows of three, each below its caption, as a PNG. Returns its path. */
export async function writeStrip(pictures: readonly Captioned[], folder: string): Promise<string> {
  const { default: sharp } = await import("sharp");
  const { width = 1, height = 1 } = pictures[0]?.frame.space ?? {};
  const parts = pictures.flatMap(({ caption, frame }, at) => {
    const left = (at % columns) * width;
    const top = Math.floor(at / columns) * (height + captionHeight);
    const raw = { width: frame.space.width, height: frame.space.height, channels: 1 as const };
    if (raw.width !== width || raw.height !== height) return [];
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${captionHeight}"><text x="4" y="13" font-size="12" font-family="sans-serif">${caption}</text></svg>`;
    return [
      { input: Buffer.from(text), left, top },
      { input: Buffer.from(frame.bytes), raw, left, top: top + captionHeight },
    ];
  });
  const size = {
    width: width * Math.min(columns, Math.max(1, pictures.length)),
    height: (height + captionHeight) * Math.max(1, Math.ceil(pictures.length / columns)),
  };
  const sheet = sharp({ create: { ...size, channels: 3, background: "white" } });
  const path = join(folder, `frames-${Date.now()}.png`);
  await writeFile(path, await sheet.composite(parts).png().toBuffer());
  return path;
}
