import type { LabUi } from "../android/labUi.ts";

export const pixelsPerPoint = 3;

export async function screenshot(ui: LabUi): Promise<string> {
  const { width, height, rgba } = await ui.picture();
  const { default: sharp } = await import("sharp");
  const picture = sharp(rgba, { raw: { width, height, channels: 4 } });
  if (!ui.isTv) picture.resize({ width: width * pixelsPerPoint, kernel: "nearest" });
  return (await picture.png({ compressionLevel: 1 }).toBuffer()).toString("base64");
}
