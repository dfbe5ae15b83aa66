import { z } from "zod";
import { type Check, type ControllerContext, defineCheck, type Reading } from "../contract.ts";
import { type Heard, heardIn, levelMs, silenceErrorMs, silentDb } from "./levels.ts";
import { streamOf, unsure } from "./stream.ts";

/** What a check of levels expects of the last `ms`, of which `needsMs` must be known. */
type Asked = {
  expected: string;
  ms: number;
  needsMs?: number;
  judge(heard: Heard): Pick<Reading, "holds" | "actual">;
};

const db = (value: number, unit = "dB") =>
  Number.isFinite(value) ? `${Math.round(value * 10) / 10} ${unit}` : "no sound at all";
const within = (min: number | undefined, max: number | undefined, unit: string) =>
  [...(min === undefined ? [] : [`from ${min}`]), ...(max === undefined ? [] : [`up to ${max}`]), unit].join(
    " ",
  );
const isWithin = (value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY) =>
  value >= min && value <= max;

const timeSchema = z.int().min(200).max(15_000);
const overLast = timeSchema.default(1_000).describe("Over the last so many milliseconds.");
const decibels = z.number().min(-120).max(20).optional();

type Offer<Input extends z.ZodObject> = Pick<Check<Input>, "name" | "description" | "input">;

/** A check of levels, none of them from before the last input. */
function levelCheck<Input extends z.ZodObject>(
  context: ControllerContext,
  offer: Offer<Input>,
  ask: (input: z.output<Input>) => Asked,
): Check {
  return defineCheck({
    ...offer,
    judges: () => "subject",
    async read(input, _signal, { since = Number.NEGATIVE_INFINITY } = {}) {
      const { expected, ms, needsMs = 2 * levelMs, judge } = ask(input);
      const stream = streamOf(context);
      if (typeof stream === "string") return unsure(expected, stream);
      const levels = stream.levels(Math.max(performance.now() - stream.delay.ms - ms, since));
      const heard = heardIn(levels);
      if (heard.knownMs >= needsMs * 0.8) return { expected, ...judge(heard) };
      const known = `${Math.round(heard.knownMs)} ms of sound since the last input`;
      return unsure(expected, `only ${known} are known, and ${needsMs} are needed`);
    },
  });
}

/** The checks that judge what was heard until now. */
export const levelChecks = (context: ControllerContext): Check[] => [
  ...rangeChecks(context),
  ...silenceChecks(context),
];

const rangeChecks = (context: ControllerContext): Check[] => [
  levelCheck(
    context,
    {
      name: "audio_level",
      description:
        "Whether the loudest peak of the sound is in a range, in dB of full scale (0 is the loudest).",
      input: z.strictObject({ min_db: decibels, max_db: decibels, for_ms: overLast }),
    },
    ({ min_db, max_db, for_ms: ms }) => ({
      expected: `a peak ${within(min_db, max_db, "dB")}`,
      ms,
      judge: ({ peakDb }) => ({ holds: isWithin(peakDb, min_db, max_db), actual: db(peakDb) }),
    }),
  ),
  levelCheck(
    context,
    {
      name: "loudness",
      description: "Whether the mean momentary loudness of the sound is in a range, in LUFS.",
      input: z.strictObject({ min: decibels, max: decibels, for_ms: timeSchema.default(3_000) }),
    },
    ({ min, max, for_ms: ms }) => ({
      ...{ expected: `a loudness ${within(min, max, "LUFS")}`, ms, needsMs: ms },
      judge: ({ loudness }) => ({ holds: isWithin(loudness, min, max), actual: db(loudness, "LUFS") }),
    }),
  ),
];

const silenceChecks = (context: ControllerContext): Check[] => [
  levelCheck(
    context,
    {
      name: "audio_silent",
      description: "Whether there is no sound for a time.",
      input: z.strictObject({ for_ms: overLast, below_db: decibels.default(silentDb) }),
    },
    ({ for_ms: ms, below_db }) => ({
      ...{ expected: `silence for ${ms} ms`, ms, needsMs: ms },
      judge: ({ peakDb }) => ({ holds: peakDb < below_db, actual: db(peakDb) }),
    }),
  ),
  levelCheck(
    context,
    {
      name: "audio_playing",
      description: "Whether there is sound.",
      input: z.strictObject({ for_ms: overLast, above_db: decibels.default(silentDb) }),
    },
    ({ for_ms: ms, above_db }) => ({
      ...{ expected: "sound", ms },
      judge: ({ peakDb }) => ({ holds: peakDb >= above_db, actual: db(peakDb) }),
    }),
  ),
  levelCheck(
    context,
    {
      name: "audio_lost",
      description: "Whether the sound was away for a time within the last 15 s.",
      input: z.strictObject({ for_ms: timeSchema.default(2_000) }),
    },
    ({ for_ms }) => ({
      ...{ expected: `${for_ms} ms without sound`, ms: 15_000, needsMs: for_ms },
      judge: ({ silentMs, knownMs }) => ({
        holds: silentMs >= for_ms,
        actual: `${Math.round(silentMs)} ms at most (± ${silenceErrorMs}), of ${Math.round(knownMs)} ms`,
      }),
    }),
  ),
];
