import { z } from "zod";
import { type Check, type ControllerContext, defineCheck, type Reading } from "../contract.ts";
import { inconclusive, ofSubject } from "../elements/readings.ts";
import { DeviceError } from "../errors.ts";
import { difference, diffPicture } from "./imageDiff.ts";
import { actualOf, evidence, findIn, rounded } from "./imageJudge.ts";
import { areaOn, loadReference } from "./imageReference.ts";
import { shownThenGone } from "./imageShown.ts";
import { cut } from "./planes.ts";
import { judge } from "./seen.ts";

const pixels = z.int().min(0).max(8_000);
const side = z.int().min(1).max(8_000);
const rect = z.strictObject({ x: pixels, y: pixels, width: side, height: side });
const reference = z.string().min(1).max(200).describe("Name of a saved reference");
const area = z
  .union([rect, z.literal("saved")])
  .optional()
  .describe(
    'Where on the screen, in its pixels; "saved" is where the reference was cut out; without it, anywhere',
  );
const shape = {
  reference,
  area,
  tolerance: pixels.default(0).describe("Pixels that the area grows by at each side"),
  score: z.number().min(0).max(1).default(0.8).describe("How like it is at least"),
  scale_range: z
    .number()
    .min(0)
    .max(0.2)
    .default(0.06)
    .describe("How much smaller or larger it may be, as a share of its size"),
};
const one = z.strictObject(shape);
/** More of one picture on a screen are not counted. */
const mostCounted = 100;
const countInput = z
  .strictObject({
    ...shape,
    count: z.int().min(0).max(mostCounted).optional(),
    min: z.int().min(0).max(mostCounted).optional(),
    max: z.int().min(0).max(mostCounted).optional(),
  })
  .refine(({ count, min, max }) => count !== undefined || min !== undefined || max !== undefined, {
    error: "Give count, min or max",
  });

/** Checks of the picture that the device shows, by references that were saved. */
export function imageChecks(context: ControllerContext): Check[] {
  return [
    visible(context, false),
    visible(context, true),
    counted(context),
    shownThenGone(context, one),
    unchanged(context),
  ];
}

function visible(context: ControllerContext, isHidden: boolean): Check {
  return defineCheck({
    name: isHidden ? "image_hidden" : "image_visible",
    description: isHidden
      ? "A reference is nowhere on the screen, or not in the area"
      : "A reference is on the screen, or in the area; says where, and what differs when it is not",
    byPicture: true,
    judges: ofSubject,
    input: one,
    read(input, signal, look = {}) {
      const expected = `"${input.reference}" is ${isHidden ? "not " : ""}on the screen`;
      return judge(context, { expected, look, signal }, async (seen) => {
        const found = await findIn(context, seen, { ...input, most: 1 }, { ms: look.ms, signal });
        const holds = found.places.length > 0 !== isHidden;
        return { holds, expected, actual: actualOf(found), ...(await evidence(found)) };
      });
    },
  });
}

function counted(context: ControllerContext): Check {
  return defineCheck({
    name: "image_count",
    description: "A reference is on the screen so many times: count, or at least min, at most max",
    byPicture: true,
    judges: ofSubject,
    input: countInput,
    read({ count, min = count ?? 0, max = count ?? mostCounted, ...input }, signal, look = {}) {
      const times = min === max ? `${min} times` : `${min} to ${max} times`;
      const expected = `"${input.reference}" is on the screen ${times}`;
      return judge(context, { expected, look, signal }, async (seen) => {
        const found = await findIn(
          context,
          seen,
          { ...input, most: mostCounted + 1 },
          { ms: look.ms, signal },
        );
        const { length } = found.places;
        const where = found.places.slice(0, 10).map(({ x, y }) => `${x}, ${y}`);
        const actual = length === 0 ? actualOf(found) : `it is there ${length} times, at ${where.join("; ")}`;
        return { holds: length >= min && length <= max, expected, actual, ...(await evidence(found)) };
      });
    },
  });
}

function unchanged(context: ControllerContext): Check {
  return defineCheck({
    name: "area_unchanged",
    description: "The place where a reference was cut out, or the area, still looks like it, pixel by pixel",
    byPicture: true,
    judges: ofSubject,
    input: z.strictObject({
      reference,
      area: rect.optional().describe("Where on the screen, of the size of the reference"),
      tolerance: z.number().min(0).max(1).default(0.001).describe("Share of the pixels that may differ"),
    }),
    read({ reference: name, area: given, tolerance }, signal, look = {}) {
      const expected = `at most ${percent(tolerance)} of "${name}" differs`;
      return judge(context, { expected, look, signal }, async (seen): Promise<Reading> => {
        const loaded = await loadReference(context, name, seen.space, signal);
        const { rgb, mask, frame: saved } = loaded;
        const isWholeScreen = rgb.width === seen.space.width && rgb.height === seen.space.height;
        const whole = { x: 0, y: 0, width: rgb.width, height: rgb.height };
        const wanted = given ?? (isWholeScreen ? whole : ("saved" as const));
        const place = areaOn(seen.space, wanted, 0, loaded);
        if (!place) return inconclusive(expected, "it is not known where to look");
        if (place.width !== rgb.width || place.height !== rgb.height)
          throw new DeviceError(
            "INVALID_PARAMS",
            `The area is ${place.width} x ${place.height} pixels and the reference ${rgb.width} x ${rgb.height}. Give an area of the size of the reference.`,
          );
        const part = cut(await seen.rgb(), place, 3);
        const differences = difference(part, rgb, mask);
        const frame = await seen.frame();
        const diff = await diffPicture(part, differences, frame.takenAt);
        const { share } = differences;
        return {
          holds: share <= tolerance,
          expected,
          actual: `${percent(share)} of it differs`,
          score: rounded(1 - share),
          area: place,
          pictures: [frame, saved, diff],
        };
      });
    },
  });
}

const percent = (share: number) => `${rounded(100 * share)} %`;
