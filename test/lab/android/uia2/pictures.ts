import { WireFailure } from "../../webdriver/wire.ts";
import type { LabUi } from "../labUi.ts";

export async function screenshot(ui: LabUi): Promise<string> {
  const { width, height, rgba, isSecure } = await ui.picture();
  if (isSecure) {
    throw new WireFailure(
      "unable to capture screen",
      "Failed to capture a screenshot. Does the current view have 'secure' flag set?",
    );
  }
  const { default: sharp } = await import("sharp");
  const picture = sharp(rgba, { raw: { width, height, channels: 4 } }).png({ compressionLevel: 1 });
  return (await picture.toBuffer()).toString("base64");
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
