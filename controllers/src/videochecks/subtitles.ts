import { z } from "zod";
import { type Check, type ControllerContext, defineCheck, type Reading } from "../contract.ts";
import { matches, matchSchema, matchWords } from "../elements/match.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, inconclusive, ofPresence } from "../elements/readings.ts";
import { DeviceError } from "../errors.ts";
import { areaSchema, inPixels } from "../measuring/area.ts";
import { legible } from "../measuring/legible.ts";
import { see } from "../vision/seen.ts";
import { languageSchema } from "../vision/textChecks.ts";
import { visionAddon } from "../vision/textEngine.ts";

/** Broadcasters keep subtitles within the safe area of the picture, in its lower quarter. */
const band = { x: 0.05, y: 0.72, width: 0.9, height: 0.25 };
/** Fewer letters are words of several languages. */
const leastLetters = 16;

const input = z.strictObject({
  text: z.string().min(1).max(500).optional().describe("What they say; without it, any text will do."),
  match: matchSchema.default("words"),
  language: languageSchema
    .optional()
    .describe("The language that they are in, such as eng, fra, deu, spa; without it, any will do."),
  area: areaSchema.default(band).describe("Where they are, in parts of the picture (0 to 1)."),
});
type Asked = z.output<typeof input>;

/** Text in the band of subtitles, read in these languages. Inconclusive where nothing reads it. */
export const subtitlesCheck = (context: ControllerContext, languages: readonly string[]): Check =>
  defineCheck({
    name: "subtitles",
    description: `Subtitles are shown, in this language, or these with text; ${matchWords}.`,
    byPicture: true,
    judges: ofPresence,
    input,
    async read(asked, signal, look = {}) {
      const expected = expectedOf(asked);
      const seen = await see(context, look, signal);
      if (typeof seen === "string") return inconclusive(expected, seen);
      const area = inPixels(asked.area, seen.space);
      const all = asked.language === undefined ? languages : [...new Set([asked.language, ...languages])];
      try {
        const lines = await legible(context, seen, { area, languages: all }, signal);
        const found = lines.filter((line) => /\p{L}{2}/u.test(line)).join(" ");
        const reading = await judged(context, asked, found);
        return { ...reading, expected, area, pictures: [await seen.frame()] };
      } catch (error) {
        if (error instanceof DeviceError && error.code === "ADDON_MISSING")
          return inconclusive(expected, error.message);
        throw error;
      }
    },
  });

const expectedOf = ({ text, language }: Asked): string =>
  ["subtitles", language && `in ${language}`, text !== undefined && `with ${quoted(text)}`]
    .filter(Boolean)
    .join(" ");

async function judged(
  context: ControllerContext,
  { text, match, language }: Asked,
  found: string,
): Promise<Omit<Reading, "expected">> {
  if (found === "") return absent("", "no text in the band of subtitles");
  const actual = quoted(found);
  if (text !== undefined && !(await matches(match, text, found))) return { holds: false, actual };
  if (language === undefined) return { holds: true, actual };
  const spoken = await languageOf(context, found);
  if (spoken === undefined) return inconclusive("", `${actual} is too short to tell its language`);
  return { holds: spoken === language, actual: `${actual}, in ${spoken}` };
}

const addonSchema = z.object({
  languageOf: z.custom<(text: string) => string | undefined>((value) => typeof value === "function"),
});

/** By its ISO 639-2 code; undefined where the text is too short. Throws ADDON_MISSING. */
async function languageOf(context: ControllerContext, text: string): Promise<string | undefined> {
  if ((text.match(/\p{L}/gu) ?? []).length < leastLetters) return undefined;
  return addonSchema.parse(await context.addons.load(visionAddon)).languageOf(text);
}
