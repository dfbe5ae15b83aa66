import { z } from "zod";
import { type Check, type ControllerContext, defineCheck, type Reading } from "../contract.ts";
import type { Sound } from "../ports.ts";
import { hearsPhrase } from "./phrase.ts";
import { speechMs, windowMs } from "./speech.ts";
import { listened, unsure } from "./stream.ts";
import { toneNear } from "./tone.ts";
import { spokenLanguage, transcript } from "./transcribe.ts";
import { withWav } from "./wav.ts";

export type SpeechPrograms = {
  transcribe?: readonly string[] | undefined;
  language?: readonly string[] | undefined;
};

const toneMs = 600;
const listen_ms = z.int().min(1_000).max(15_000).default(5_000).describe("How long it listens.");

type Judged = Pick<Reading, "holds" | "actual" | "score">;
type Offer<Input extends z.ZodObject> = Pick<Check<Input>, "name" | "description" | "input"> & {
  /** What is expected of the next `ms`. */
  ask(input: z.output<Input>): { expected: string; ms: number };
  /** Why it can never be judged here. */
  lacks?: string | undefined;
};

/** A check of what is heard from now on. */
function listeningCheck<Input extends z.ZodObject>(
  context: ControllerContext,
  { ask, lacks, ...offer }: Offer<Input>,
  judge: (sound: Sound, input: z.output<Input>, signal: AbortSignal) => Promise<Judged>,
): Check {
  return defineCheck({
    ...offer,
    judges: () => "subject",
    async read(input, signal) {
      const asked = ask(input);
      if (lacks !== undefined) return unsure(asked.expected, lacks);
      const read = async (sound: Sound) => ({
        expected: asked.expected,
        ...(await judge(sound, input, signal)),
      });
      return listened(context, asked, read, signal);
    },
  });
}

/** The checks that listen to the sound from now on. */
export const listeningChecks = (context: ControllerContext, programs: SpeechPrograms): Check[] => [
  toneCheck(context),
  speechCheck(context),
  phraseCheck(context),
  ...programChecks(context, programs),
];

const toneCheck = (context: ControllerContext): Check =>
  listeningCheck(
    context,
    {
      name: "tone",
      description: "Whether one frequency makes up most of the sound, such as a test tone.",
      input: z.strictObject({
        hz: z.number().min(50).max(7_500),
        tolerance: z.number().min(1).max(500).default(10).describe("In Hz, to both sides."),
      }),
      ask: ({ hz, tolerance }) => ({ expected: `a tone of ${hz} Hz, give or take ${tolerance}`, ms: toneMs }),
    },
    async (sound, { hz, tolerance }) => {
      const found = toneNear(sound, hz, tolerance);
      if (!found) return { holds: false, actual: "silence" };
      const share = `${Math.round(found.share * 100)} % of the sound`;
      const isNear = Math.abs(found.hz - hz) <= tolerance;
      return {
        actual: `${Math.round(found.hz)} Hz (± 1) is ${share}`,
        holds: isNear && found.share >= 0.5,
        score: found.share,
      };
    },
  );

const speechCheck = (context: ControllerContext): Check =>
  listeningCheck(
    context,
    {
      name: "speech",
      description: "Whether someone speaks while it listens, in any language. Singing may count as speech.",
      input: z.strictObject({ listen_ms }),
      ask: ({ listen_ms: ms }) => ({ expected: "speech", ms }),
    },
    async (sound, { listen_ms: ms }, signal) => {
      const spoken = await speechMs(sound, context.addons, signal);
      return { holds: spoken > 0, actual: `${spoken} ms of speech (± ${windowMs}) in ${ms} ms` };
    },
  );

const phraseCheck = (context: ControllerContext): Check =>
  listeningCheck(
    context,
    {
      name: "phrase",
      description:
        "Whether an English phrase is said while it listens. Other sentences do not count, though one that differs in a word may.",
      input: z.strictObject({ text: z.string().min(1).max(200), listen_ms }),
      ask: ({ text, listen_ms: ms }) => ({ expected: `someone says "${text}"`, ms }),
    },
    async (sound, { text }, signal) => {
      const holds = await withWav(sound, context, (wav) => hearsPhrase(wav, text, signal));
      return { holds, actual: holds ? "this or one much like it was heard" : "it was not recognised" };
    },
  );

const programChecks = (context: ControllerContext, { transcribe, language }: SpeechPrograms): Check[] => [
  listeningCheck(
    context,
    {
      name: "transcript",
      description:
        "Whether words are said while it listens, by the program in controllers.audio.transcribe. Letter case and punctuation do not count.",
      input: z.strictObject({ text: z.string().min(1).max(200), listen_ms }),
      ask: ({ text, listen_ms: ms }) => ({ expected: `someone says "${text}"`, ms }),
      lacks: transcribe ? undefined : lacking("transcribe"),
    },
    async (sound, { text }, signal) => {
      const heard = await withWav(sound, context, (wav) => transcript(transcribe ?? [], wav, signal));
      return { holds: hasWords(heard, text), actual: heard === "" ? "nothing was said" : `"${heard}"` };
    },
  ),
  listeningCheck(
    context,
    {
      name: "audio_language",
      description:
        "Whether a language is spoken while it listens, by the program in controllers.audio.language.",
      input: z.strictObject({
        language: z.string().regex(/^[a-z]{2}$/, "two letters, such as en"),
        listen_ms,
      }),
      ask: ({ language: wanted, listen_ms: ms }) => ({ expected: `the language ${wanted}`, ms }),
      lacks: language ? undefined : lacking("language"),
    },
    async (sound, { language: wanted }, signal) => {
      const actual = await withWav(sound, context, (wav) => spokenLanguage(language ?? [], wav, signal));
      return { holds: actual === wanted, actual };
    },
  ),
];

const wordsOf = (text: string) =>
  ` ${(
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}'’]+/gu) ?? []
  )
    .join(" ")
    .replaceAll("’", "'")} `;
const hasWords = (heard: string, text: string) => wordsOf(heard).includes(wordsOf(text));

const lacking = (setting: keyof SpeechPrograms) =>
  `no program for it is configured: set controllers.audio.${setting} of the device to one that has a speech model`;
