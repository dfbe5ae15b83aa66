import { z } from "zod";
import {
  type Check,
  type ControllerContext,
  defineCheck,
  type Reading,
  type ReadOptions,
} from "../contract.ts";
import { type Match, matchWords, partNote, relation } from "../elements/match.ts";
import { nearestOf } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { inconclusive, ofPresence, ofSubject } from "../elements/readings.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import type { Frame, Rect } from "../shapes.ts";
import { type Seen, see } from "./seen.ts";
import { readPicture } from "./text.ts";
import { around, type TextLine, textsOf } from "./textLines.ts";
import {
  distanceOf,
  findRepaired,
  findText,
  nearestText,
  readMatchSchema,
  type WantedText,
} from "./textMatch.ts";

export const languageSchema = z.string().regex(/^[a-z]{3}(_\w{1,20})?$/, "three letters, such as eng or fra");

const pixel = z.number().min(-100_000).max(100_000);
/** What a check or command may say besides the text. */
export const whereShape = {
  area: z
    .strictObject({ x: pixel, y: pixel, width: pixel.positive(), height: pixel.positive() })
    .optional()
    .describe("In pixels of the picture: only this part is read, and enlarged."),
  language: languageSchema
    .optional()
    .describe("The text's language, such as eng, fra, deu, spa; those of the device if left out."),
};
export type Where = { area?: Rect | undefined; language?: string | undefined };

const repairShape = {
  repair: z
    .boolean()
    .default(false)
    .describe("Letters that look alike count as the same (O 0, l 1 I, · - :); the reading says which."),
};
const longest = 10_000;
const framedWidth = 960;

type Asked = Where & WantedText;

/** Checks of what can be read in the picture of a device. `languages` are those of the device. */
export function textChecks(context: ControllerContext, languages: readonly string[]): Check[] {
  const judge = (asked: Asked, signal: AbortSignal, look: ReadOptions | undefined, isWhole = false) =>
    new TextReading(context, asked, isWhole).judge(languages, signal, look);
  return [
    defineCheck({
      ...portable.text_visible,
      description: `${portable.text_visible.description}. Read in the picture`,
      byPicture: true,
      input: portable.text_visible.input.extend({ ...whereShape, ...repairShape }),
      read: (input, signal, look) => judge(input, signal, look),
    }),
    defineCheck({
      name: "text_equals",
      description: `All that can be read in an area of the picture is this text; ${matchWords}`,
      byPicture: true,
      judges: ofSubject,
      input: z.strictObject({
        text: z.string().min(1).max(longest),
        match: z.enum(["same", "exact"]).default("same"),
        ...whereShape,
        ...repairShape,
      }),
      read: (input, signal, look) => judge(input, signal, look, true),
    }),
    defineCheck({
      name: "text_matches",
      description: `A line or paragraph in the picture matches; ${matchWords}; fuzzy allows so many wrong letters as distance says`,
      byPicture: true,
      judges: ofPresence,
      input: z.strictObject({
        text: z.string().min(1).max(longest),
        match: readMatchSchema.default("words"),
        distance: z
          .int()
          .min(0)
          .max(50)
          .optional()
          .describe("Wrong, missing and further letters with match fuzzy; one in eight if left out."),
        ...whereShape,
        ...repairShape,
      }),
      read: (input, signal, look) => judge(input, signal, look),
    }),
  ];
}

/** One reading of one check. `isWhole`: the text is all that there is. */
class TextReading {
  readonly #context: ControllerContext;
  readonly #asked: Asked;
  readonly #isWhole: boolean;
  readonly #expected: string;

  constructor(context: ControllerContext, asked: Asked, isWhole: boolean) {
    this.#context = context;
    this.#asked = asked;
    this.#isWhole = isWhole;
    const { match, text, area } = asked;
    const where = area ? "the area" : "the picture";
    const how = match === "fuzzy" ? `has, with up to ${distanceOf(asked)} letters wrong,` : relation(match);
    this.#expected = isWhole
      ? `${where} ${how} ${quoted(text)}`
      : `a text of ${where} ${how} ${quoted(text)}`;
  }

  async judge(languages: readonly string[], signal: AbortSignal, look: ReadOptions = {}): Promise<Reading> {
    const { language, area } = this.#asked;
    const seen = await see(this.#context, look, signal);
    if (typeof seen === "string") return inconclusive(this.#expected, seen);
    const options = { area, languages: language === undefined ? languages : [language] };
    const read = await readPicture(this.#context, seen, options, signal).catch((error: unknown) => {
      // The picture cannot be judged on this machine: neither right nor wrong.
      if (error instanceof DeviceError && /^ADDON_/.test(error.code)) return error.message;
      throw error;
    });
    if (typeof read === "string") return inconclusive(this.#expected, read);
    const reading = await this.#compare(read.lines);
    return { ...reading, pictures: await picturesOf(read.seen, reading.area) };
  }

  async #compare(lines: readonly TextLine[]): Promise<Reading> {
    const expected = this.#expected;
    if (lines.length === 0)
      return { holds: false, expected, actual: "no text was read in it", missing: "absent" };
    const texts = this.#isWhole ? [wholeOf(lines)] : textsOf(lines);
    const found = await findText(this.#asked, texts);
    if (!found) return this.#unlike(texts, lines);
    const { line, note } = found;
    const actual = `${quoted(line.text)}, read with confidence ${line.confidence}${note === "" ? "" : `; ${note}`}`;
    return { holds: true, expected, actual, score: line.confidence, area: line.rect };
  }

  async #unlike(texts: readonly TextLine[], lines: readonly TextLine[]): Promise<Reading> {
    const expected = this.#expected;
    const { text, match, repair } = this.#asked;
    if (this.#isWhole) {
      const [all] = texts;
      const actual = `${quoted(all?.text ?? "")}, read with confidence ${all?.confidence}${await this.#hint(texts)}`;
      return { holds: false, expected, actual, ...(all && { score: all.confidence, area: all.rect }) };
    }
    const least = Math.min(...lines.map(({ confidence }) => confidence));
    const note =
      match === "fuzzy"
        ? ""
        : partNote(
            match,
            text,
            texts.map((line) => line.text),
          );
    const hint = repair ? "" : await this.#hint(texts);
    const nearest = nearestOf(text, texts, { text: (line) => line.text }).map(
      (line) => `${quoted(line.text)} (confidence ${line.confidence})`,
    );
    const actual = `in none of ${lines.length} lines, read with confidence ${least} or more${note}${hint}`;
    return { holds: false, expected, actual, ...(nearest.length > 0 && { nearest }), missing: "absent" };
  }

  /** What would make it hold, where only letters that look alike stand in the way. */
  async #hint(texts: readonly TextLine[]): Promise<string> {
    const { text, match, repair } = this.#asked;
    if (match === "fuzzy") {
      const nearest = nearestText(text, texts);
      return nearest ? `; ${quoted(nearest.line.text)} differs in ${nearest.distance} letters` : "";
    }
    const repaired = repair ? undefined : await findRepaired(match as Match, text, texts);
    return repaired ? `; ${quoted(repaired.line.text)} would do with repair: true (${repaired.note})` : "";
  }
}

function wholeOf(lines: readonly TextLine[]): TextLine {
  const letters = lines.reduce((sum, { text }) => sum + text.length, 0);
  const weighed = lines.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0);
  return {
    text: lines.map(({ text }) => text).join(" "),
    confidence: Math.round((100 * weighed) / Math.max(1, letters)) / 100,
    rect: around(lines),
    words: lines.flatMap(({ words }) => words),
  };
}

/** The same picture is evidence of all checks that judge it. */
const files = new WeakMap<Seen, Promise<Frame>>();

/** The picture, and where something was found a small one on which it is marked. */
async function picturesOf(seen: Seen, area: Rect | undefined): Promise<readonly Frame[]> {
  const file = files.get(seen) ?? seen.frame();
  files.set(seen, file);
  return area ? [await file, await marked(seen, area)] : [await file];
}

async function marked(seen: Seen, area: Rect): Promise<Frame> {
  const sharp = (await import("sharp")).default;
  const { bytes, width, height } = await seen.rgb();
  const scale = Math.min(1, framedWidth / width);
  const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const [x, y, wide, high] = [area.x - 4, area.y - 4, area.width + 8, area.height + 8].map(
    (side) => side * scale,
  );
  const box = `<rect x="${x}" y="${y}" width="${wide}" height="${high}" fill="none" stroke="#f0f" stroke-width="3"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">${box}</svg>`;
  const picture = await sharp(bytes, { raw: { width, height, channels: 3 } })
    .resize(size.width, size.height, { kernel: "nearest" })
    .composite([{ input: Buffer.from(svg) }])
    .jpeg({ quality: 75 })
    .toBuffer();
  const { takenAt } = await (files.get(seen) ?? seen.frame());
  return { mimeType: "image/jpeg", bytes: picture, ...size, rotation: seen.space.rotation, takenAt };
}
