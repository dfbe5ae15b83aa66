import type { ControllerContext } from "../contract.ts";
import { nearest } from "../elements/nearest.ts";
import { DeviceError } from "../errors.ts";
import type { Rect, Space } from "../shapes.ts";
import { clipped } from "../spaces.ts";
import { untilAborted } from "../waiting/deadlines.ts";
import type { Seen } from "./seen.ts";
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

/** `key` is the area and the languages. */
type Kept = { seen: Seen; key: string; lines: Promise<readonly TextLine[]> };

/** All drivers of a device have the same context: one reading serves them all. */
const kept = new WeakMap<ControllerContext, readonly Kept[]>();

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
  const key = JSON.stringify([part, languages]);
  for (const one of kept.get(context) ?? [])
    if (one.key === key && (await seen.isLike(one.seen, part)))
      return { seen: one.seen, lines: await untilAborted(one.lines, signal) };
  // Goes on without its first caller, if others wait for it too.
  const entry = { seen, key, lines: readAnew(engine, seen, part, languages) };
  const keep = (first: readonly Kept[]) => {
    const others = (kept.get(context) ?? []).filter((one) => one !== entry);
    kept.set(context, [...first, ...others].slice(0, mostKept));
  };
  keep([entry]);
  entry.lines.catch(() => keep([]));
  return { seen, lines: await untilAborted(entry.lines, signal) };
}

async function readAnew(
  engine: TextEngine,
  seen: Seen,
  area: Rect | undefined,
  languages: readonly string[],
): Promise<readonly TextLine[]> {
  const read = async (language: string, picture: PreparedPicture) => {
    const lines = await engine.read(picture.pgm, picture.layout, language);
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
