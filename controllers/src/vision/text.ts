import type { ControllerContext } from "../contract.ts";
import { nearest } from "../elements/nearest.ts";
import { DeviceError } from "../errors.ts";
import type { Rect, Space } from "../shapes.ts";
import { clipped } from "../spaces.ts";
import { untilAborted } from "../waiting/deadlines.ts";
import type { Pixels, Seen } from "./seen.ts";
import { findEngine, type Layout, type TextEngine, visionAddon } from "./textEngine.ts";
import { inReadingOrder, type ReadWord, surest, type TextLine } from "./textLines.ts";

/** `area` is in the space of the picture. Several languages: each line in the one in which it was read most surely. */
export type ReadTextOptions = { area?: Rect | undefined; languages: readonly string[] };

/** A picture that was read, and what was read in it. `seen` is the earlier one of the same look where its text was reused. */
export type ReadPicture = { lines: readonly TextLine[]; seen: Seen };

/** Letters of less than about 30 pixels are read better when they are enlarged. */
const widePixels = 1_600;
const cropScale = 2;
const mostPixels = 9_000_000;
/** So much white around a crop: a letter at the edge is not read. */
const margin = 16;
/** An area of at least this part of the picture has a layout of its own. */
const pagePart = 0.25;
const mostKept = 8;
/** Two pictures are the same text if no tile of 4 x 4 pixels differs by more than this, of 255. */
const tile = 4;
const tileWithin = 16;

type Kept = { seen: Seen; area: Rect | undefined; languages: string; lines: Promise<readonly TextLine[]> };
type Device = { kept: Kept[] };

/** All drivers of a device have the same context: one reading serves them all. */
const devices = new WeakMap<ControllerContext, Device>();

/**
 * The lines of text in a picture, in reading order. A picture that shows the same as one of the last eight that were read, in
 * the area or as a whole, costs no reading. Throws INVALID_PARAMS for an unknown language (with those that there are) and for
 * an area outside of the picture, ADDON_MISSING where nothing reads texts, DEVICE_ERROR and COMMAND_TIMEOUT of the reader.
 */
export async function readText(
  context: ControllerContext,
  seen: Seen,
  options: ReadTextOptions,
  signal: AbortSignal,
): Promise<readonly TextLine[]> {
  return (await readPicture(context, seen, options, signal)).lines;
}

/** {@link readText}, with the picture that the lines were read in. */
export async function readPicture(
  context: ControllerContext,
  seen: Seen,
  { area, languages }: ReadTextOptions,
  signal: AbortSignal,
): Promise<ReadPicture> {
  const part = area && partOf(area, seen.space);
  const engine = await engineFor(context, languages);
  const device = devices.get(context) ?? { kept: [] };
  devices.set(context, device);
  const key = languages.join(" ");
  for (const one of device.kept) {
    if (one.languages !== key || !isSameArea(one.area, part)) continue;
    if (await showsSameText(seen, one.seen, part))
      return { seen: one.seen, lines: await untilRead(one, signal) };
  }
  // Goes on without its first caller, if others wait for it too.
  const lines = readAnew(engine, seen, part, languages);
  const entry = { seen, area: part, languages: key, lines };
  device.kept = [entry, ...device.kept].slice(0, mostKept);
  lines.catch(() => {
    device.kept = device.kept.filter((one) => one !== entry);
  });
  return { seen, lines: await untilRead(entry, signal) };
}

async function readAnew(
  engine: TextEngine,
  seen: Seen,
  area: Rect | undefined,
  languages: readonly string[],
): Promise<readonly TextLine[]> {
  const { pgm, layout, toPicture } = await prepared(seen, area);
  const { signal } = new AbortController();
  const readings = await Promise.all(languages.map((language) => engine.read(pgm, layout, language, signal)));
  const placed = readings.map((lines) =>
    lines.map((line) => ({ ...toPicture(line), words: line.words.map(toPicture) })),
  );
  return placed.length > 1 ? surest(placed) : inReadingOrder(placed.flat());
}

async function untilRead({ lines }: Kept, signal: AbortSignal): Promise<readonly TextLine[]> {
  return untilAborted(lines, signal);
}

/** Whole pixels of the picture. Throws INVALID_PARAMS. */
function partOf(area: Rect, space: Space): Rect {
  const part = clipped(area, space);
  const [x, y] = [Math.floor(part?.x ?? 0), Math.floor(part?.y ?? 0)];
  const width = Math.ceil((part?.x ?? 0) + (part?.width ?? 0)) - x;
  const height = Math.ceil((part?.y ?? 0) + (part?.height ?? 0)) - y;
  if (part && width > 1 && height > 1) return { x, y, width, height };
  throw new DeviceError(
    "INVALID_PARAMS",
    `The area ${JSON.stringify(area)} has nothing of the picture, which is ${space.width} x ${space.height} pixels. Give an area in its pixels.`,
  );
}

/** What reads these languages. Throws ADDON_MISSING, INVALID_PARAMS. */
async function engineFor(context: ControllerContext, languages: readonly string[]): Promise<TextEngine> {
  const engine = await findEngine(context);
  if (!engine) {
    context.addons.folder(visionAddon);
    throw new Error("The add-on is there and reads nothing");
  }
  const unknown = languages.find((language) => !engine.languages.includes(language));
  if (unknown === undefined) return engine;
  const [best] = nearest(unknown, engine.languages, 1);
  const suggestion = best === undefined ? "" : ` Did you mean ${best}?`;
  throw new DeviceError(
    "INVALID_PARAMS",
    `No model reads the language "${unknown}". There are ${engine.languages.join(", ")}.${suggestion} Others come with the program tesseract and its packages, such as apt install tesseract-ocr tesseract-ocr-${unknown.slice(0, 3)}.`,
    { languages: engine.languages },
  );
}

type Prepared = {
  pgm: Uint8Array;
  layout: Layout;
  toPicture(word: ReadWord): ReadWord;
};

/** Gray always. A crop is enlarged, its contrast stretched, and light text on dark turned to dark text on light. */
async function prepared(seen: Seen, area: Rect | undefined): Promise<Prepared> {
  const gray = await seen.gray();
  const { width, height } = area ?? gray;
  const isPage = width * height >= pagePart * gray.width * gray.height;
  const wished = isPage ? widePixels / gray.width : cropScale;
  const scale = Math.min(Math.max(1, wished), cropScale, Math.sqrt(mostPixels / (width * height)));
  const sharp = (await import("sharp")).default;
  const raw = { width: gray.width, height: gray.height, channels: 1 as const };
  const picture = sharp(gray.bytes, { raw });
  if (area) picture.extract({ left: area.x, top: area.y, width: area.width, height: area.height });
  if (scale > 1) picture.resize(Math.round(width * scale), Math.round(height * scale), { fit: "fill" });
  let around = 0;
  if (!isPage) {
    around = margin;
    picture.normalise();
    if (isDark(gray, area)) picture.negate();
    picture.extend({ ...sides(margin), background: "white" });
  }
  const { data, info } = await picture.toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  const header = Buffer.from(`P5\n${info.width} ${info.height}\n255\n`);
  const back = (pixels: number, from: number) => from + (pixels - around) / scale;
  return {
    pgm: Buffer.concat([header, data]),
    layout: isPage ? "page" : "block",
    toPicture: ({ rect, ...word }) => ({
      ...word,
      rect: {
        x: Math.round(back(rect.x, area?.x ?? 0)),
        y: Math.round(back(rect.y, area?.y ?? 0)),
        width: Math.round(rect.width / scale),
        height: Math.round(rect.height / scale),
      },
    }),
  };
}

const sides = (pixels: number) => ({ top: pixels, bottom: pixels, left: pixels, right: pixels });

/** Most of its pixels are dark: the text is what is light. */
function isDark({ bytes, width }: Pixels, area: Rect | undefined): boolean {
  if (!area) return false;
  let dark = 0;
  for (let y = area.y; y < area.y + area.height; y++)
    for (let at = y * width + area.x; at < y * width + area.x + area.width; at++)
      if ((bytes[at] ?? 0) < 128) dark++;
  return dark * 2 > area.width * area.height;
}

const isSameArea = (one: Rect | undefined, other: Rect | undefined) =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    one.x === other.x &&
    one.y === other.y &&
    one.width === other.width &&
    one.height === other.height);

/** Stricter than {@link Seen.isLike}, in which one small letter for another may be lost. */
async function showsSameText(one: Seen, other: Seen, area: Rect | undefined): Promise<boolean> {
  if (one === other || one.isIdentical(other)) return true;
  if (!(await one.isLike(other, area))) return false;
  const [a, b] = await Promise.all([one.gray(), other.gray()]);
  const { x, y, width, height } = area ?? { x: 0, y: 0, width: a.width, height: a.height };
  for (let top = y; top < y + height; top += tile)
    for (let left = x; left < x + width; left += tile) if (!isSameTile(a, b, left, top)) return false;
  return true;
}

function isSameTile(one: Pixels, other: Pixels, left: number, top: number): boolean {
  let [difference, count] = [0, 0];
  const [right, bottom] = [Math.min(left + tile, one.width), Math.min(top + tile, one.height)];
  for (let y = top; y < bottom; y++)
    for (let at = y * one.width + left; at < y * one.width + right; at++) {
      difference += (one.bytes[at] ?? 0) - (other.bytes[at] ?? 0);
      count++;
    }
  return Math.abs(difference) <= tileWithin * count;
}
