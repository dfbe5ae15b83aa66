import { z } from "zod";
import { type Command, type ControllerContext, defineCommand } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Rect } from "../shapes.ts";
import { pause } from "../waiting/deadlines.ts";
import { type Colour, colourBehind, medianColour } from "./colours.ts";
import { type Pixels, type Seen, see } from "./seen.ts";
import { readText } from "./text.ts";
import { whereShape } from "./textChecks.ts";
import { columnsOf, type TextLine } from "./textLines.ts";

/** `columns` are its parts where wide gaps keep them apart; `highlighted`: what is behind it has another colour than behind most. */
export type MenuItem = {
  text: string;
  confidence: number;
  rect: Rect;
  highlighted: boolean;
  columns: readonly { text: string; rect: Rect; highlighted: boolean }[];
};

const mostItems = 200;
const longestMs = 3_000;
const lookEveryMs = 50;
/** Of 255, in the channel that differs most. */
const otherColour = 24;
/** More of them than this part are not one highlight. */
const highlightedPart = 0.34;

export function menuCommand(context: ControllerContext, languages: readonly string[]): Command {
  return defineCommand({
    name: "get_menu_info",
    description:
      "Reads the lines of the picture as entries of a menu: each with text, rect, columns, and whether it is highlighted, by the colour behind it.",
    effect: "read",
    input: z.strictObject(whereShape),
    async run({ area, language }, signal) {
      const seen = await seeNow(context, signal);
      if (typeof seen === "string")
        throw new DeviceError("DEVICE_ERROR", `The menu cannot be read: ${seen}. Check the source.`);
      const options = { area, languages: language === undefined ? languages : [language] };
      const lines = await readText(context, seen, options, signal);
      const items = menuOf(lines.slice(0, mostItems), await seen.rgb());
      const lit = items.flatMap((item) => item.columns.filter(({ highlighted }) => highlighted));
      const highlight =
        lit.length > 0
          ? `highlighted: ${lit.map(({ text }) => `"${text}"`).join(", ")}`
          : "no highlight seen";
      return {
        message: `${items.length} lines; ${highlight}`,
        isNews: true,
        data: { items, ...(lines.length > mostItems && { more: lines.length - mostItems }) },
      };
    },
  });
}

/** A picture of what earlier commands led to: none that the device showed before this call. */
async function seeNow(context: ControllerContext, signal: AbortSignal): Promise<Seen | string> {
  const since = performance.now();
  for (;;) {
    const seen = await see(context, { since }, signal);
    if (typeof seen !== "string" || performance.now() > since + longestMs) return seen;
    await pause(lookEveryMs, signal);
  }
}

/** The lines of a menu, in their order. */
function menuOf(lines: readonly TextLine[], rgb: Pixels): MenuItem[] {
  const columns = lines.map(columnsOf);
  const colours = columns.map((row) => row.map(({ rect }) => colourBehind(rect, rgb)));
  const all = colours.flat();
  const usual = medianColour(all);
  const isOther = (colour: Colour) =>
    colour.some((value, at) => Math.abs(value - (usual[at] ?? 0)) > otherColour);
  const isOne = all.filter(isOther).length <= highlightedPart * all.length;
  return lines.map(({ text, confidence, rect }, at) => {
    const row = (columns[at] ?? []).map((column, place) => {
      const colour = colours[at]?.[place];
      const highlighted = isOne && colour !== undefined && isOther(colour);
      return { text: column.text, rect: column.rect, highlighted };
    });
    return { text, confidence, rect, highlighted: row.some(({ highlighted }) => highlighted), columns: row };
  });
}
