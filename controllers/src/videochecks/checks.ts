import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../contract.ts";
import { inconclusive, ofPresence, ofSubject } from "../elements/readings.ts";
import { whole } from "../measuring/area.ts";
import { isBlack } from "../measuring/interruption.ts";
import { type Sample, Sampler, tileCount } from "../measuring/sample.ts";
import { isSilent } from "../measuring/sound.ts";
import type { StreamSource, VideoFrame } from "../ports.ts";
import { Seen } from "../vision/seen.ts";
import type { RecentPicture } from "./recent.ts";

const forMs = (ms: number) =>
  z.int().min(200).max(20_000).default(ms).describe("The last part of the picture that is judged.");
const overTime = (ms: number) => z.strictObject({ for_ms: forMs(ms) });

/** A video of 24 pictures a second changes two of five frames of a capture of 60. */
const leastMoving = 0.25;
/** What moves in a smaller part of the picture may be a spinner or a clock. */
const leastWide = 0.15;

type Judged = Pick<Reading, "holds" | "actual"> & { inconclusive?: string };

/** Checks of the picture over time. */
export const motionChecks = (recent: RecentPicture): Check[] => [
  windowCheck(recent, "motion", "The picture moves", 1_000, (samples) => {
    const { part, actual } = movement(samples);
    return { holds: part >= leastMoving, actual };
  }),
  windowCheck(recent, "freeze", "The picture stands still and is not black", 2_000, (samples) => {
    if (samples.every(isBlack)) return { holds: false, actual: "the picture is black" };
    const { part, actual } = movement(samples);
    return { holds: part === 0, actual };
  }),
  windowCheck(recent, "picture_stable", "Nothing in the picture changes", 1_000, (samples) => {
    const { part, actual } = movement(samples);
    return { holds: part === 0, actual };
  }),
  windowCheck(
    recent,
    "playing",
    "A video plays: the picture moves, is not black, and has sound where the source has any",
    2_000,
    (samples) => playing(samples, recent.stream()),
  ),
];

function windowCheck(
  recent: RecentPicture,
  name: string,
  description: string,
  ms: number,
  judge: (samples: readonly Sample[]) => Judged,
): Check {
  return defineCheck({
    name,
    description: `${description}, for the last for_ms.`,
    judges: ofSubject,
    input: overTime(ms),
    async read({ for_ms }, _signal, look = {}) {
      const expected = `${name.replace("_", " ")} for ${for_ms} ms`;
      const samples = recent.samples(for_ms, look);
      return typeof samples === "string" ? inconclusive(expected, samples) : { expected, ...judge(samples) };
    },
  });
}

/** The part of the frames that changed, and the part of the picture in which they did. */
function movement(samples: readonly Sample[]) {
  const tiles = new Set(samples.flatMap(({ changed }) => changed));
  const moving = samples.filter(({ changed }) => changed.length > 0).length;
  const [part, wide] = [moving / Math.max(1, samples.length), tiles.size / tileCount];
  const actual = `${percent(part)} of the frames changed, in ${percent(wide)} of the picture`;
  return { part, wide, actual };
}

function playing(samples: readonly Sample[], stream: StreamSource | undefined): Judged {
  const black = samples.filter(isBlack).length / samples.length;
  if (black > 0.5) return { holds: false, actual: `the picture is black in ${percent(black)} of the frames` };
  const { part, wide } = movement(samples);
  if (part < leastMoving) return { holds: false, actual: `only ${percent(part)} of the frames changed` };
  const sound = soundSince(samples, stream);
  if (sound === "silent") return { holds: false, actual: "the picture moves, without sound" };
  if (wide < leastWide && sound === "unknown") {
    const why = `only ${percent(wide)} of the picture moves, and there is no sound: it may be a spinner`;
    return { holds: false, actual: why, inconclusive: why };
  }
  return { holds: true, actual: `the picture moves${sound === "heard" ? ", with sound" : ""}` };
}

function soundSince(samples: readonly Sample[], stream: StreamSource | undefined) {
  if (!stream?.hasSound()) return "unknown";
  const levels = stream.levels((samples[0]?.arrivedAt ?? 0) - stream.delay.ms);
  if (levels.length === 0) return "unknown";
  return levels.every(isSilent) ? "silent" : "heard";
}

const percent = (part: number): string => `${Math.round(100 * part)} %`;

/** Black in each frame of the time, or in the one picture that is judged. */
export const blackCheck = (recent: RecentPicture): Check =>
  defineCheck({
    name: "black",
    description: "The picture is black, for the last for_ms.",
    byPicture: true,
    judges: ofSubject,
    input: overTime(1_000),
    async read({ for_ms }, _signal, look = {}) {
      const { frame } = look;
      const expected = frame ? "a black picture" : `black for ${for_ms} ms`;
      const samples = frame ? [await sampleOf(frame)] : recent.samples(for_ms, look);
      if (typeof samples === "string") return inconclusive(expected, samples);
      const brightest = Math.min(...samples.map(({ dark }) => dark));
      const pictures = frame ? { pictures: [await new Seen(frame).frame()] } : {};
      return {
        ...{ holds: samples.every(isBlack), expected, ...pictures },
        actual: `${percent(brightest)} of the brightest frame is dark`,
      };
    },
  });

async function sampleOf(frame: VideoFrame): Promise<Sample> {
  const { bytes, width, height } = await new Seen(frame).gray();
  const space = { width, height, rotation: frame.space.rotation };
  return new Sampler(whole).sample({ ...frame, bytes, pixels: "gray", space });
}

/** Checks of the stream itself. */
export const streamChecks = (recent: RecentPicture): Check[] => [
  defineCheck({
    name: "no_signal",
    description: "No frame has come from the device for the last for_ms.",
    judges: ofPresence,
    input: overTime(2_000),
    async read({ for_ms }, _signal, look = {}) {
      const expected = `no frame for ${for_ms} ms`;
      const silentMs = recent.silentMs(for_ms, look);
      if (typeof silentMs === "string") return inconclusive(expected, silentMs);
      return {
        holds: silentMs >= for_ms,
        expected,
        actual: `the last frame came ${Math.round(silentMs)} ms ago`,
      };
    },
  }),
  defineCheck({
    name: "decoder_errors",
    description: "The decoder of the stream complained max times at most in the last for_ms.",
    judges: ofSubject,
    input: z.strictObject({ for_ms: forMs(5_000), max: z.int().min(0).max(10_000).default(0) }),
    async read({ for_ms, max }, _signal, { since = 0 } = {}) {
      const expected = `at most ${max} errors of the decoder in ${for_ms} ms`;
      const stream = recent.stream();
      if (!stream)
        return inconclusive(expected, "no controller of the device reports what its decoder complains of");
      const from = performance.now() - for_ms;
      if (from < since)
        return inconclusive(
          expected,
          `${Math.round(for_ms + from - since)} ms have passed since the last input; ${for_ms} are needed`,
        );
      const errors = stream.events(from).filter(({ kind }) => kind === "decoder_error");
      // One that goes on has not been counted yet.
      const count = errors.reduce((sum, { facts }) => sum + (Number(facts?.lines) || 1), 0);
      return { holds: count <= max, expected, actual: `${count} errors` };
    },
  }),
];
