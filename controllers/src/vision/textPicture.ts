import type { Rect } from "../shapes.ts";
import { cut } from "./planes.ts";
import type { Pixels, Seen } from "./seen.ts";
import type { Layout } from "./textEngine.ts";
import type { ReadWord } from "./textLines.ts";

/** Letters of less than about 30 pixels are read better when they are enlarged. */
const widePixels = 1_600;
const cropScale = 2;
const mostPixels = 9_000_000;
/** So much white around a crop: a letter at the edge is not read. */
const margin = 16;
/** An area of at least this part of the picture has a layout of its own. */
const pagePart = 0.25;
/** A higher crop may have texts on more than one background. */
const lineHeight = 120;
/** The background is the median of so many cells across and down: at 1080 lines 104 x 52 pixels, lower than an entry of a menu. */
const medianCells = 13;
const cellsDown = 270;
const nearCells = 3;
const contrast = 1.6;

/** A PGM file for the reader, and the way back from its pixels to those of the picture. */
export type PreparedPicture = { pgm: Uint8Array; layout: Layout; toPicture(word: ReadWord): ReadWord };

/**
 * The picture, or an area of it in whole pixels, as texts are read best: gray, dark on white. A line is enlarged, its contrast
 * stretched, and inverted where it is light on dark. In all that is larger, what differs from the background around it becomes
 * dark, so that the entry with the highlight is read too.
 */
export async function prepared(seen: Seen, area?: Rect, wished?: Layout): Promise<PreparedPicture> {
  const sharp = (await import("sharp")).default;
  const whole = await seen.gray();
  const gray = area ? cut(whole, area) : whole;
  const { width, height } = gray;
  const isPage = wished === undefined && width * height >= pagePart * whole.width * whole.height;
  const isLine = !isPage && height <= lineHeight;
  const scale = Math.min(
    Math.max(1, isPage ? widePixels / whole.width : cropScale),
    cropScale,
    Math.sqrt(mostPixels / (width * height)),
  );
  const read = isLine ? gray : await flattened(gray, Math.max(1, Math.round(whole.height / cellsDown)));
  const picture = sharp(read.bytes, { raw: { width, height, channels: 1 } });
  const size = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
  picture.resize({ ...size, fit: "fill" });
  if (isLine) picture.normalise();
  if (isLine && isDark(gray)) picture.negate();
  const scaled = await picture.toColourspace("b-w").raw().toBuffer();
  const around = isPage ? 0 : margin;
  const framed = await sharp(scaled, { raw: { ...size, channels: 1 } })
    .extend({ top: around, bottom: around, left: around, right: around, background: "white" })
    .toColourspace("b-w")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const header = Buffer.from(`P5\n${framed.info.width} ${framed.info.height}\n255\n`);
  const back = (pixels: number, from = 0) => Math.round(from + (pixels - around) / scale);
  return {
    pgm: Buffer.concat([header, framed.data]),
    layout: wished ?? (isPage ? "page" : "block"),
    toPicture: ({ rect, ...word }) => ({
      ...word,
      rect: {
        x: back(rect.x, area?.x),
        y: back(rect.y, area?.y),
        width: Math.round(rect.width / scale),
        height: Math.round(rect.height / scale),
      },
    }),
  };
}

/** The difference of each pixel from the background around it, as dark on white. A cell is twice as wide as high. */
async function flattened({ bytes, width, height }: Pixels, cell: number): Promise<Pixels> {
  const sharp = (await import("sharp")).default;
  const cells = { width: Math.ceil(width / cell / 2), height: Math.ceil(height / cell) };
  const one = { channels: 1 as const };
  const small = await sharp(bytes, { raw: { width, height, ...one } })
    .resize({ ...cells, fit: "fill", kernel: "nearest" })
    .toColourspace("b-w")
    .raw()
    .toBuffer();
  const medians = await sharp(small, { raw: { ...cells, ...one } })
    .median(Math.min(medianCells, cells.width, cells.height))
    .toColourspace("b-w")
    .raw()
    .toBuffer();
  const around = neighbours(medians, cells.width, cells.height);
  const flat = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const row = Math.min(cells.height - 1, Math.floor((y * cells.height) / height)) * cells.width;
    for (let x = 0; x < width; x++) {
      const at = row + Math.min(cells.width - 1, Math.floor((x * cells.width) / width));
      const value = bytes[y * width + x] ?? 0;
      const difference = Math.min(
        Math.abs(value - (medians[at] ?? 0)),
        Math.abs(value - (around.least[at] ?? 0)),
        Math.abs(value - (around.most[at] ?? 0)),
      );
      flat[y * width + x] = 255 - Math.min(255, contrast * difference);
    }
  }
  return { bytes: flat, width, height };
}

type Pick = (one: number, other: number) => number;

/** The darkest and lightest background near each cell: the edge of a bar is on neither side a letter. */
function neighbours(medians: Uint8Array, across: number, down: number) {
  const spread = (pick: Pick) => {
    const rows = medians.map((_, at) =>
      picked(medians, pick, { at, place: at % across, count: across, step: 1 }),
    );
    return rows.map((_, at) =>
      picked(rows, pick, { at, place: Math.floor(at / across), count: down, step: across }),
    );
  };
  return { least: spread(Math.min), most: spread(Math.max) };
}

/** Of the cells near one in its row or column. */
function picked(
  values: Uint8Array,
  pick: Pick,
  { at, place, count, step }: { at: number; place: number; count: number; step: number },
): number {
  let value = values[at] ?? 0;
  const last = Math.min(nearCells, count - 1 - place);
  for (let away = -Math.min(nearCells, place); away <= last; away++)
    value = pick(value, values[at + away * step] ?? value);
  return value;
}

/** Most of its pixels are dark: the text is what is light. */
function isDark({ bytes }: Pixels): boolean {
  let dark = 0;
  for (const value of bytes) if (value < 128) dark++;
  return dark * 2 > bytes.length;
}
