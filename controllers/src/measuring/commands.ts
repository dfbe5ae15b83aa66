import { z } from "zod";
import { type Command, type CommandResult, type ControllerContext, defineCommand } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Rect } from "../shapes.ts";
import { areaSchema, whole } from "./area.ts";
import { readBanner } from "./banner.ts";
import { playbackOf } from "./playback.ts";
import { type Reel, record } from "./reel.ts";
import { lengthOf, silencesIn } from "./sound.ts";
import { type Captioned, writeStrip } from "./strip.ts";
import { transitionOf } from "./transition.ts";
import { type Span, type Zap, zapOf } from "./zap.ts";

const key = z.string().min(1).max(60).describe("As press_key takes it, such as CHANNEL_UP.");
const timeout_ms = z.int().min(500).max(60_000);

/** Most boxes show the banner of a channel in the lower third. */
const aboveBanner: Rect = { x: 0, y: 0, width: 1, height: 0.66 };

/** Sound levels come ten times a second. */
const levelMs = 100;

const zapInput = z.strictObject({
  key: key.default("CHANNEL_UP"),
  area_without_banner: areaSchema
    .default(aboveBanner)
    .describe("What is judged, in parts of the picture (0 to 1); the rest is read as the banner."),
  stable_ms: z.int().min(200).max(5_000).default(500).describe("How long the new picture must move."),
  timeout_ms: timeout_ms.default(15_000),
});
const transitionInput = z.strictObject({
  key,
  area: areaSchema.default(whole).describe("What is judged, in parts of the picture (0 to 1)."),
  stable_ms: z.int().min(200).max(10_000).default(1_000).describe("How long nothing may change."),
  timeout_ms: timeout_ms.default(15_000),
});
const playbackInput = z.strictObject({
  key: key.optional().describe("Starts the playback; without it, what plays already is measured."),
  area: areaSchema.default(whole).describe("What is judged, in parts of the picture (0 to 1)."),
  duration_ms: z.int().min(1_000).max(600_000).default(10_000),
});

/** Commands that measure the picture of a device that sends frames. Banners are read in these languages. */
export function measuringCommands(context: ControllerContext, languages: readonly string[]): Command[] {
  return [
    defineCommand({
      name: "measure_zap",
      description:
        "Presses a channel key and measures the change: last old frame, black, freeze or spinner, first new picture, steady, sound back, banner; times in ms after the key, exact to error_ms.",
      effect: "write",
      input: zapInput,
      run: (input, signal) => measureZap(context, input, languages, signal),
    }),
    defineCommand({
      name: "measure_transition",
      description:
        "Presses a key and measures when the screen first changes and from when on it stands still; times in ms after the key, exact to error_ms.",
      effect: "write",
      input: transitionInput,
      run: (input, signal) => measureTransition(context, input, signal),
    }),
    defineCommand({
      name: "measure_playback",
      description:
        "Watches a video for a time, from a key if one is named: start-up, stalls, black and silence in ms.",
      effect: "write",
      input: playbackInput,
      run: (input, signal) => measurePlayback(context, input, signal),
    }),
  ];
}

async function measureZap(
  context: ControllerContext,
  { key, area_without_banner: area, stable_ms, timeout_ms }: z.output<typeof zapInput>,
  languages: readonly string[],
  signal: AbortSignal,
): Promise<CommandResult> {
  let zap: Zap | undefined;
  const reel = await record(
    context.device,
    {
      area,
      timeoutMs: timeout_ms,
      press: () => context.device.press(key, signal),
      look(now) {
        zap = zapOf(now.samples, now.keyMs, stable_ms);
        return { isDone: zap?.isDone === true && !isSilentNow(now), evidence: zapEvidence(now, zap).flat() };
      },
    },
    signal,
  );
  if (!zap)
    throw new DeviceError(
      "COMMAND_TIMEOUT",
      `No other picture came within ${timeout_ms} ms after ${key}. Check that the key changes the channel, or give timeout_ms more.`,
    );
  const banner = await readBanner(context, area, languages, signal);
  const { how, firstNew } = zap;
  return await measured(context, reel, {
    message: `${key}: new picture after ${reel.after(firstNew)} ms (${how.replace("_", " ")})`,
    data: { ...zapTimes(reel, zap), ...soundTimes(reel), ...banner },
    kpi: zap.firstNew,
    places: zapPlaces(zap),
    evidence: zapEvidence(reel, zap),
  });
}

const zapPlaces = ({ lastOld, firstNew, steady }: Zap): number[] => [lastOld, firstNew, steady ?? firstNew];

/** The frames before, at and after the key, and before, at and after the first new picture. */
function zapEvidence(reel: Reel, zap: Zap | undefined): number[] {
  const around = (place: number) => [place - 1, place, place + 1];
  const found = zap ? [zap.lastOld, ...around(zap.firstNew), zap.steady ?? zap.firstNew] : [];
  return [...around(reel.keyPlace), ...found];
}

function zapTimes(reel: Reel, zap: Zap) {
  const ms = (time: number) => Math.round(time - reel.keyMs);
  const spanOf = (name: "black" | "freeze" | "spinner", span: Span | undefined) =>
    span && {
      ...(span.from !== undefined && { [`${name}_from_ms`]: ms(span.from) }),
      [`${name}_until_ms`]: ms(span.until),
    };
  return {
    how: zap.how,
    zap_ms: reel.after(zap.firstNew),
    last_old_ms: reel.after(zap.lastOld),
    ...spanOf("freeze", zap.freeze),
    ...spanOf("black", zap.black),
    ...spanOf("spinner", zap.spinner),
    ...(zap.steady !== undefined && { stable_ms: reel.after(zap.steady) }),
    ...(zap.isStill && { new_picture: "stands still" }),
    ...(zap.laterCuts.length > 0 && { later_cuts_ms: zap.laterCuts.map((place) => reel.after(place)) }),
  };
}

function isSilentNow({ levels }: Reel): boolean {
  const last = silencesIn(levels).at(-1);
  return last !== undefined && last.back === undefined;
}

function soundTimes({ stream, levels, key, delay }: Reel): Readonly<Record<string, unknown>> {
  if (!stream?.hasSound()) return { sound: "none" };
  const [gap] = silencesIn(levels);
  if (!gap) return { sound: "never stopped" };
  const after = (moment: number) => Math.round(moment - key.at);
  return {
    sound: gap.back === undefined ? "not back" : "back",
    sound_lost_ms: after(gap.lost),
    ...(gap.back !== undefined && { sound_back_ms: after(gap.back) }),
    sound_error_ms: Math.ceil(levelMs + delay.errorMs + key.errorMs),
  };
}

async function measureTransition(
  context: ControllerContext,
  { key, area, stable_ms, timeout_ms }: z.output<typeof transitionInput>,
  signal: AbortSignal,
): Promise<CommandResult> {
  let found = transitionOf([], 0, stable_ms);
  const evidenceOf = (reel: Reel) => {
    const { first = 0, stable = first } = found;
    return [reel.keyPlace, first - 1, first, stable - 1, stable];
  };
  const reel = await record(
    context.device,
    {
      area,
      timeoutMs: timeout_ms,
      press: () => context.device.press(key, signal),
      look(now) {
        found = transitionOf(now.samples, now.keyMs, stable_ms);
        return { isDone: found.stable !== undefined, evidence: evidenceOf(now) };
      },
    },
    signal,
  );
  const { wasMoving, first, stable } = found;
  if (first === undefined)
    throw new DeviceError(
      "COMMAND_TIMEOUT",
      wasMoving
        ? `The picture moved before ${key} already, and no cut followed within ${timeout_ms} ms. Name an area that stands still.`
        : `Nothing changed within ${timeout_ms} ms after ${key}. Check that the key does something here, or give timeout_ms more.`,
    );
  return await measured(context, reel, {
    message: `${key}: first change after ${reel.after(first)} ms, ${stable === undefined ? "not stable by then" : `stable after ${reel.after(stable)} ms`}`,
    data: {
      first_change_ms: reel.after(first),
      ...(stable !== undefined && { stable_ms: reel.after(stable) }),
      moved_before: wasMoving,
    },
    kpi: stable ?? first,
    places: [first, stable ?? first],
    evidence: evidenceOf(reel),
  });
}

async function measurePlayback(
  context: ControllerContext,
  { key, area, duration_ms }: z.output<typeof playbackInput>,
  signal: AbortSignal,
): Promise<CommandResult> {
  const reel = await record(
    context.device,
    {
      area,
      timeoutMs: duration_ms,
      press: key === undefined ? undefined : () => context.device.press(key, signal),
      look: (now) => ({ isDone: false, evidence: [now.keyPlace] }),
    },
    signal,
  );
  const { started, stalls, blackMs, movingMs } = playbackOf(reel.samples, Math.max(0, reel.keyPlace));
  const stalled = Math.round(stalls.reduce((sum, { ms }) => sum + ms, 0));
  return await measured(context, reel, {
    message:
      started === undefined
        ? `Nothing played within ${duration_ms} ms`
        : `Played ${Math.round(movingMs)} of ${duration_ms} ms, ${stalls.length} stalls`,
    data: {
      ...(started !== undefined && { startup_ms: reel.after(started) }),
      playing_ms: Math.round(movingMs),
      stalls: stalls.slice(0, 20).map(({ atMs, ms }) => ({ at_ms: Math.round(atMs), ms: Math.round(ms) })),
      stall_count: stalls.length,
      stalled_ms: stalled,
      black_ms: Math.round(blackMs),
      ...silenceOf(reel),
    },
    kpi: started,
    places: started === undefined ? [] : [started],
    evidence: [reel.keyPlace, started ?? 0, reel.samples.length - 1],
  });
}

function silenceOf({ stream, levels }: Reel): Readonly<Record<string, unknown>> {
  if (!stream?.hasSound()) return { sound: "none" };
  const ms = silencesIn(levels).reduce((sum, silence) => sum + lengthOf(silence, levels), 0);
  return { silence_ms: Math.round(ms) };
}

type Measured = {
  message: string;
  data: Readonly<Record<string, unknown>>;
  /** The sample whose time is the KPI of an edge. */
  kpi: number | undefined;
  /** The samples whose times are reported. */
  places: readonly number[];
  evidence: readonly number[];
};

async function measured(
  context: ControllerContext,
  reel: Reel,
  { message, data, kpi, places, evidence }: Measured,
): Promise<CommandResult> {
  const pictures = [...new Set(evidence)]
    .toSorted((a, b) => a - b)
    .flatMap((place): Captioned[] => {
      const frame = reel.picture(place);
      return frame ? [{ caption: `${reel.after(place)} ms`, frame }] : [];
    });
  const error_ms = reel.errorMs(places);
  return {
    message: `${message}, exact to ${error_ms} ms`,
    isNews: true,
    data: {
      ...data,
      ...(kpi !== undefined && { kpi_ms: reel.after(kpi) }),
      error_ms,
      ...(!reel.delay.isKnown && { capture_delay: "unknown: it is in every time" }),
      frames_ms: pictures.map(({ caption }) => caption),
    },
    ...(pictures.length > 0 && {
      file: await writeStrip(pictures, await context.temporaryFolder()),
      fileType: "image/png" as const,
    }),
    sentAt: reel.key.at,
  };
}
