import { z } from "zod";
import {
  type Check,
  type ControllerContext,
  defineCheck,
  type Reading,
  type ReadOptions,
} from "../contract.ts";
import { matchWords, partNote, relation } from "../elements/match.ts";
import { nearestOf } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { ofPresence, ofSubject } from "../elements/readings.ts";
import { portable } from "../portable.ts";
import type { Rect } from "../shapes.ts";
import { judge } from "./seen.ts";
import { readPicture } from "./text.ts";
import { joined, type TextLine, textsOf } from "./textLines.ts";
import {
  distanceOf,
  findRepaired,
  findText,
  nearestText,
  readMatchSchema,
  type WantedText,
} from "./textMatch.ts";

export const languageSchema = z.string().regex(/^[a-z]{3}(_\w{1,20})?$/, "three letters, such as eng or fra");
/** The setting of a driver that reads texts. */
export const languagesSchema = z.array(languageSchema).min(1).max(4).default(["eng"]);

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

type Asked = Where & WantedText;

/** Checks of what can be read in the picture of a device. `languages` are those of the device. */
export function textChecks(context: ControllerContext, languages: readonly string[]): Check[] {
  const read = (asked: Asked, signal: AbortSignal, look: ReadOptions = {}, isWhole = false) => {
    const { area, language } = asked;
    const options = { area, languages: language === undefined ? languages : [language] };
    const expected = expectedOf(asked, isWhole);
    return judge(context, { expected, look, signal }, async (seen) => {
      const { lines, seen: picture } = await readPicture(context, seen, options, signal);
      const compared = await compare(asked, lines, isWhole);
      return { expected, ...compared, pictures: [await picture.frame()] };
    });
  };
  return [
    defineCheck({
      ...portable.text_visible,
      description: `${portable.text_visible.description}. Read in the picture`,
      byPicture: true,
      input: portable.text_visible.input.extend({ ...whereShape, ...repairShape }),
      read,
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
      read: (input, signal, look) => read(input, signal, look, true),
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
      read,
    }),
  ];
}

function expectedOf(asked: Asked, isWhole: boolean): string {
  const { match, text, area } = asked;
  const where = area ? "the area" : "the picture";
  const how = match === "fuzzy" ? `has, with up to ${distanceOf(asked)} letters wrong,` : relation(match);
  return isWhole ? `${where} ${how} ${quoted(text)}` : `a text of ${where} ${how} ${quoted(text)}`;
}

type Compared = Omit<Reading, "expected">;

/** `isWhole`: the text is all that there is. */
async function compare(asked: Asked, lines: readonly TextLine[], isWhole: boolean): Promise<Compared> {
  if (lines.length === 0) return { holds: false, actual: "no text was read in it", missing: "absent" };
  const whole = isWhole ? joined(lines) : undefined;
  const texts = whole ? [whole] : textsOf(lines);
  const found = await findText(asked, texts);
  if (found) return { holds: true, ...of(found.line, found.note && `; ${found.note}`) };
  const hint = await hintOf(asked, texts);
  return whole ? { holds: false, ...of(whole, hint) } : unlike(asked, { lines, texts, hint });
}

const of = ({ text, confidence, rect }: TextLine, note: string) => ({
  actual: `${quoted(text)}, read with confidence ${confidence}${note}`,
  score: confidence,
  area: rect,
});

type Read = { lines: readonly TextLine[]; texts: readonly TextLine[]; hint: string };

function unlike({ text, match }: Asked, { lines, texts, hint }: Read): Compared {
  const least = Math.min(...lines.map(({ confidence }) => confidence));
  const all = texts.map((line) => line.text);
  const note = match === "fuzzy" ? "" : partNote(match, text, all);
  const nearest = nearestOf(text, texts, { text: (line) => line.text }).map(
    (line) => `${quoted(line.text)} (confidence ${line.confidence})`,
  );
  const actual = `in none of ${lines.length} lines, read with confidence ${least} or more${note}${hint}`;
  return { holds: false, actual, ...(nearest.length > 0 && { nearest }), missing: "absent" };
}

/** What would make it hold, where only some letters stand in the way. */
async function hintOf({ text, match, repair }: Asked, texts: readonly TextLine[]): Promise<string> {
  if (match === "fuzzy") {
    const nearest = nearestText(text, texts);
    return nearest ? `; ${quoted(nearest.line.text)} differs in ${nearest.distance} letters` : "";
  }
  const repaired = repair ? undefined : await findRepaired(match, text, texts);
  return repaired ? `; ${quoted(repaired.line.text)} would do with repair: true (${repaired.note})` : "";
}
