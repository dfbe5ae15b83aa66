import type { ControllerContext } from "../contract.ts";
import { nearest } from "../elements/nearest.ts";
import { DeviceError } from "../errors.ts";
import type { Rect, Space } from "../shapes.ts";
import { clipped } from "../spaces.ts";
import { untilAborted } from "../waiting/deadlines.ts";
import type { Pixels, Seen } from "./seen.ts";
import { findEngine, type TextEngine, visionAddon } from "./textEngine.ts";
import { columnsOf, inReadingOrder, lineOf, surest, type TextLine } from "./textLines.ts";
import { type PreparedPicture, prepared } from "./textPicture.ts";

/** `area` is in the space of the picture. Several languages: each line in the one in which it was read most surely. */
export type ReadTextOptions = { area?: Rect | undefined; languages: readonly string[] };

/** A picture that was read, and what was read in it. `seen` is the earlier picture where its text was reused. */
export type ReadPicture = { lines: readonly TextLine[]; seen: Seen };

/** What was read with less confidence is read again, by itself and enlarged. */
const sureFrom = 0.85;
const mostAgain = 12;
const aroundLine = 6;
const mostKept = 8;
/** Two pictures are the same text if no tile of 4 x 4 pixels differs by more than this, of 255. */
const tile = 4;
const tileWithin = 16;

type Kept = { seen: Seen; area: Rect | undefined; languages: string; lines: Promise<readonly TextLine[]> };
type Device = { kept: Kept[] };

/** A reading goes on without the caller that began it. */
const neverAborted = new AbortController().signal;

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
  const read = async (language: string, picture: PreparedPicture) => {
    const lines = await engine.read(picture.pgm, picture.layout, language, neverAborted);
    return lines.map(({ words }) => lineOf(words.map(picture.toPicture)));
  };
  const picture = await prepared(seen, area);
  const readings = await Promise.all(
    languages.map(async (language) => {
      const lines = await read(language, picture);
      return picture.layout === "page" ? readUnsureAgain(lines, seen, (one) => read(language, one)) : lines;
    }),
  );
  return readings.length > 1 ? surest(readings) : inReadingOrder(readings.flat());
}

/** Columns of a line are apart where one of them is unsure: letters of another size spoil each other. */
async function readUnsureAgain(
  lines: readonly TextLine[],
  seen: Seen,
  read: (picture: PreparedPicture) => Promise<TextLine[]>,
): Promise<TextLine[]> {
  const isSure = ({ confidence }: TextLine) => confidence >= sureFrom;
  const parts = lines.flatMap((line) => (columnsOf(line).every(isSure) ? [line] : columnsOf(line)));
  const unsure = new Set(parts.filter((part) => !isSure(part)).slice(0, mostAgain));
  const readings = parts.map(async (part) => {
    if (!unsure.has(part)) return [part];
    const anew = await read(await prepared(seen, partOf(widened(part.rect), seen.space), "line"));
    const better = anew.filter(({ confidence }) => confidence > part.confidence);
    return better.length > 0 ? better : [part];
  });
  return (await Promise.all(readings)).flat();
}

const widened = ({ x, y, width, height }: Rect): Rect => ({
  x: x - aroundLine,
  y: y - aroundLine,
  width: width + 2 * aroundLine,
  height: height + 2 * aroundLine,
});

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
