import { z } from "zod";
import {
  type Check,
  type ControllerContext,
  defineCheck,
  type Reading,
  type ReadOptions,
} from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { SoundLevel, StreamSource } from "../ports.ts";
import { type Heard, heardIn, longestSilence, silentDb } from "./levels.ts";
import { hearsPhrase } from "./phrase.ts";
import { toneNear } from "./tone.ts";

type Expected = Pick<Reading, "expected">;
const unsure = (expected: string, inconclusive: string): Reading => ({
  ...{ expected, actual: "unknown", holds: false, inconclusive },
});
const db = (value: number, unit = "dB") =>
  Number.isFinite(value) ? `${Math.round(value * 10) / 10} ${unit}` : "no sound at all";

/** The stream, or why there is nothing to judge. */
function streamOf({ device }: ControllerContext): StreamSource | string {
  try {
    const stream = device.stream();
    if (stream.hasSound() === false) return "the source has no sound track";
    return stream;
  } catch (error) {
    if (error instanceof DeviceError) return error.message;
    throw error;
  }
}

/** Levels of the last `ms`, none from before the last input. */
function levelsOf(
  context: ControllerContext,
  ms: number,
  { since = Number.NEGATIVE_INFINITY }: ReadOptions,
): readonly SoundLevel[] | string {
  const stream = streamOf(context);
  if (typeof stream === "string") return stream;
  const levels = stream.levels(Math.max(performance.now() - stream.delay.ms - ms, since));
  return levels.length < 2 ? "no sound level has come since the last input" : levels;
}

const for_ms = z.int().min(200).max(15_000);
const overLast = for_ms.default(1_000).describe("Over the last so many milliseconds.");
const decibels = z.number().min(-120).max(20);

/** A check of the levels of the last `ms`. The span must be nearly whole where it judges that something is missing. */
function judgeLevels(
  context: ControllerContext,
  { expected }: Expected,
  options: { ms: number; isWhole?: boolean; look: ReadOptions | undefined },
  decide: (heard: Heard, levels: readonly SoundLevel[]) => Pick<Reading, "holds" | "actual">,
): Reading {
  const levels = levelsOf(context, options.ms, options.look ?? {});
  if (typeof levels === "string") return unsure(expected, levels);
  const heard = heardIn(levels);
  if (!heard) return unsure(expected, "too little was heard");
  if (options.isWhole && heard.spanMs < options.ms * 0.8)
    return unsure(
      expected,
      `only ${Math.round(heard.spanMs)} ms of sound are known, and ${options.ms} are needed`,
    );
  return { expected, ...decide(heard, levels) };
}
type Judge = (...asked: Tail<Parameters<typeof judgeLevels>>) => Reading;
type Tail<T extends readonly unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

export function soundChecks(context: ControllerContext): Check[] {
  const judge: Judge = (...asked) => judgeLevels(context, ...asked);
  return [
    defineCheck({
      name: "audio_level",
      description:
        "Whether the loudest peak of the sound is in a range, in dB of full scale (0 is the loudest).",
      input: z.strictObject({ min_db: decibels.optional(), max_db: decibels.optional(), for_ms: overLast }),
      judges: () => "subject",
      read: async ({ min_db = -200, max_db = 200, for_ms }, _signal, look) =>
        judge({ expected: `a peak ${within(min_db, max_db, "dB")}` }, { ms: for_ms, look }, ({ peakDb }) => ({
          holds: peakDb >= min_db && peakDb <= max_db,
          actual: db(peakDb),
        })),
    }),
    defineCheck({
      name: "audio_silent",
      description: "Whether there is no sound for a time.",
      input: z.strictObject({ for_ms: overLast, below_db: decibels.default(silentDb) }),
      judges: () => "subject",
      read: async ({ for_ms, below_db }, _signal, look) =>
        judge(
          { expected: `silence for ${for_ms} ms` },
          { ms: for_ms, isWhole: true, look },
          ({ peakDb }) => ({
            holds: peakDb < below_db,
            actual: db(peakDb),
          }),
        ),
    }),
    defineCheck({
      name: "audio_playing",
      description: "Whether there is sound.",
      input: z.strictObject({ for_ms: overLast, above_db: decibels.default(silentDb) }),
      judges: () => "subject",
      read: async ({ for_ms, above_db }, _signal, look) =>
        judge({ expected: "sound" }, { ms: for_ms, look }, ({ peakDb }) => ({
          holds: peakDb >= above_db,
          actual: db(peakDb),
        })),
    }),
    defineCheck({
      name: "audio_lost",
      description: "Whether the sound was away for a time within the last 15 s.",
      input: z.strictObject({ for_ms: for_ms.default(2_000) }),
      judges: () => "subject",
      read: async ({ for_ms }, _signal, look) =>
        judge({ expected: `${for_ms} ms without sound` }, { ms: 15_000, look }, ({ spanMs }, levels) => {
          const longest = Math.round(longestSilence(levels));
          return { holds: longest >= for_ms, actual: `${longest} ms at most, of ${Math.round(spanMs)} ms` };
        }),
    }),
    defineCheck({
      name: "loudness",
      description: "Whether the mean momentary loudness of the sound is in a range, in LUFS.",
      input: z.strictObject({
        min: decibels.optional(),
        max: decibels.optional(),
        for_ms: for_ms.default(3_000),
      }),
      judges: () => "subject",
      read: async ({ min = -200, max = 200, for_ms }, _signal, look) =>
        judge(
          { expected: `a loudness ${within(min, max, "LUFS")}` },
          { ms: for_ms, isWhole: true, look },
          (heard) => ({
            holds: heard.loudness >= min && heard.loudness <= max,
            actual: db(heard.loudness, "LUFS"),
          }),
        ),
    }),
    toneCheck(context),
    phraseCheck(context),
  ];
}

const within = (min: number, max: number, unit: string) =>
  [...(min > -200 ? [`from ${min}`] : []), ...(max < 200 ? [`up to ${max}`] : []), unit].join(" ");

const toneCheck = (context: ControllerContext): Check =>
  defineCheck({
    name: "tone",
    description: "Whether one frequency makes up most of the sound, such as a test tone.",
    input: z.strictObject({
      hz: z.number().min(50).max(7_500),
      tolerance: z.number().min(1).max(500).default(10).describe("In Hz, to both sides."),
    }),
    judges: () => "subject",
    async read({ hz, tolerance }, signal) {
      const expected = `a tone of ${hz} Hz, give or take ${tolerance}`;
      const stream = streamOf(context);
      if (typeof stream === "string") return unsure(expected, stream);
      const sound = await heardFrom(stream, 600, signal);
      if (typeof sound === "string") return unsure(expected, sound);
      const found = toneNear(sound, hz, tolerance);
      if (!found) return { expected, actual: "silence", holds: false };
      const share = `${Math.round(found.share * 100)} % of the sound`;
      return {
        expected,
        actual: `${Math.round(found.hz)} Hz is ${share}`,
        holds: found.share >= 0.5,
        score: found.share,
      };
    },
  });

const phraseCheck = (context: ControllerContext): Check =>
  defineCheck({
    name: "phrase",
    description: "Whether an English phrase is said while it listens. It recognises this phrase or nothing.",
    input: z.strictObject({
      text: z.string().min(1).max(200),
      listen_ms: z.int().min(1_000).max(15_000).default(5_000),
    }),
    judges: () => "subject",
    async read({ text, listen_ms }, signal) {
      const expected = `someone says "${text}"`;
      const stream = streamOf(context);
      if (typeof stream === "string") return unsure(expected, stream);
      const sound = await heardFrom(stream, listen_ms, signal);
      if (typeof sound === "string") return unsure(expected, sound);
      const hears = await hearsPhrase(sound, text, await context.temporaryFolder(), signal);
      if (typeof hears === "string") return unsure(expected, hears);
      return { expected, actual: hears ? "it was heard" : "it was not recognised", holds: hears };
    },
  });

/** What is heard, or why nothing is. */
async function heardFrom(stream: StreamSource, ms: number, signal: AbortSignal) {
  try {
    return await stream.listen(ms, signal);
  } catch (error) {
    if (error instanceof DeviceError && error.code === "DEVICE_ERROR") return error.message;
    throw error;
  }
}
