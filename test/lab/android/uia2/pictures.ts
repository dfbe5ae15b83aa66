import type { Rect } from "@labwright/controllers";
import type { LabUi } from "../labUi.ts";
import { Uia2Failure } from "./failure.ts";

export async function screenshot(ui: LabUi, display: number, part?: Rect): Promise<string> {
  const { width, height, rgba, isSecure } = await ui.picture(display);
  if (isSecure) {
    throw new Uia2Failure(
      "unable to capture screen",
      "Failed to capture a screenshot. Does the current view have 'secure' flag set?",
    );
  }
  const { default: sharp } = await import("sharp");
  const picture = sharp(rgba, { raw: { width, height, channels: 4 } });
  if (part) picture.extract({ left: part.x, top: part.y, width: part.width, height: part.height });
  return (await picture.png({ compressionLevel: 1 }).toBuffer()).toString("base64");
}

/** A frame of the stream; black where it is secret. `scale` and `quality` in percent. */
export async function jpeg(
  ui: LabUi,
  { scale, quality }: { scale: number; quality: number },
): Promise<Buffer> {
  const { width, height, rgba } = await ui.picture();
  const { default: sharp } = await import("sharp");
  return sharp(rgba, { raw: { width, height, channels: 4 } })
    .resize({ width: Math.max(1, Math.round((width * scale) / 100)) })
    .jpeg({ quality })
    .toBuffer();
}
