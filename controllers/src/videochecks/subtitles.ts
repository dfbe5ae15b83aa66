import { z } from "zod";
import { type Check, type ControllerContext, defineCheck } from "../contract.ts";
import { matches, matchSchema, matchWords } from "../elements/match.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, inconclusive, ofPresence } from "../elements/readings.ts";
import { DeviceError } from "../errors.ts";
import { areaSchema, inPixels, type Reader } from "../measuring/area.ts";
import { see } from "../vision/seen.ts";

/** Broadcasters keep subtitles within the safe area of the picture, in its lower quarter. */
const band = { x: 0.05, y: 0.72, width: 0.9, height: 0.25 };

/** Text in the band of subtitles. Without a `read`er of text it is inconclusive. */
export const subtitlesCheck = (context: ControllerContext, read: Reader | undefined): Check =>
  defineCheck({
    name: "subtitles",
    description: `Subtitles are shown, or these with text; ${matchWords}.`,
    byPicture: true,
    judges: ofPresence,
    input: z.strictObject({
      text: z.string().min(1).max(500).optional().describe("What they say; without it, any text will do."),
      match: matchSchema.default("words"),
      area: areaSchema.default(band).describe("Where they are, in parts of the picture (0 to 1)."),
    }),
    async read({ text, match, area }, signal, look = {}) {
      const expected = text === undefined ? "subtitles" : `subtitles with ${quoted(text)}`;
      if (!read) return inconclusive(expected, "no controller of the device reads text from a picture");
      const seen = await see(context, look, signal);
      if (typeof seen === "string") return inconclusive(expected, seen);
      const rect = inPixels(area, seen.space);
      const lines = await read(seen, rect, signal).catch(reasonOf);
      if (typeof lines === "string") return inconclusive(expected, lines);
      const pictures = [await seen.frame()];
      const found = lines.filter((line) => /\p{L}{2}/u.test(line)).join(" ");
      if (found === "")
        return { ...absent(expected, "no text in the band of subtitles"), area: rect, pictures };
      const holds = text === undefined || (await matches(match, text, found));
      return { holds, expected, actual: quoted(found), area: rect, pictures };
    },
  });

/** Without a reader of text, the check is inconclusive. */
function reasonOf(error: unknown): string {
  if (error instanceof DeviceError && error.code === "ADDON_MISSING") return error.message;
  throw error;
}
