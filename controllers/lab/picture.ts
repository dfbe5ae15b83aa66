import type { Sharp } from "sharp";
import type { Frame, Space } from "../src/index.ts";
import type { Box } from "./box.ts";

/** The space of the box's screen and its rects. */
export const boxSpace: Space = { width: 640, height: 360, rotation: 0 };
const rowHeight = 60;
const firstRow = 80;

/** The rect of the row at this place on the screen. */
export const rowRect = (place: number) => ({
  x: 40,
  y: firstRow + place * rowHeight,
  width: 400,
  height: 50,
});

/** Draws the present screen in a size of the same shape. sharp is loaded with the first picture: it costs 30 MB. */
export async function draw(box: Box, { width, height }: { width: number; height: number }): Promise<Sharp> {
  const lit = box.isDark() ? "" : [`<rect width="640" height="360" fill="#123"/>`, ...rows(box)].join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" width="${width}" height="${height}"><rect width="640" height="360" fill="#000"/>${lit}</svg>`;
  const { default: sharp } = await import("sharp");
  return sharp(Buffer.from(svg)).removeAlpha();
}

export async function takePicture(box: Box): Promise<Frame> {
  const bytes = await (await draw(box, boxSpace)).png().toBuffer();
  return { mimeType: "image/png", bytes, ...boxSpace, takenAt: new Date().toISOString() };
}

function rows(box: Box): string[] {
  const focused = box.focused();
  const lines = box.shown().map((item, place) => {
    const { x, y } = rowRect(place);
    const value = box.values.get(item.id);
    return line(
      x,
      y,
      value === undefined ? item.name : `${item.name}: ${value}`,
      item === focused ? "yellow" : "white",
    );
  });
  const blocks = box.has("macroblocks")
    ? [`<rect x="200" y="100" width="240" height="160" fill="#0f0"/>`]
    : [];
  return [...lines, ...(box.dialog ? [line(120, 20, box.dialog.text, "red")] : []), ...blocks];
}

const line = (x: number, y: number, text: string, fill: string) =>
  `<text x="${x}" y="${y + 32}" font-size="28" fill="${fill}">${text.replace(/[<&]/g, (one) => (one === "<" ? "&lt;" : "&amp;"))}</text>`;
