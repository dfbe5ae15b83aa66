import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  audioFactory,
  type ControllerContext,
  DeviceError,
  runProgram,
  type SoundLevel,
  type StreamSource,
} from "@labwright/controllers";
import { ffmpegArguments } from "#controllers/av/arguments.ts";
import { runFfmpeg } from "#controllers/av/running.ts";
import { avSettingsSchema } from "#controllers/av/settings.ts";
import { SoundRing } from "#controllers/av/soundRing.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";

const never = new AbortController().signal;
export const perSecond = 16_000;
/** What a stream sounded like until now: its samples, its levels, or both. */
export type Heard = { samples?: Float32Array; levels?: readonly SoundLevel[] };

export async function done(program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, { signal: never, timeoutMs: 60_000 });
  if (code !== 0) throw new Error(`${program}: ${stderr}`);
  return stdout + stderr;
}

/** What ffmpeg makes of an input, at 16,000 samples a second. */
async function soundOf(file: string, input: readonly string[]): Promise<Float32Array> {
  await done("ffmpeg", [
    "-v",
    "error",
    "-y",
    ...input,
    "-ac",
    "1",
    "-ar",
    `${perSecond}`,
    "-f",
    "f32le",
    file,
  ]);
  const bytes = await readFile(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Sounds by ffmpeg's filters and espeak-ng's voices, made in a folder. */
export function soundsIn(folder: string) {
  let count = 0;
  const file = (type: string) => join(folder, `${++count}.${type}`);
  return {
    made: (filter: string) => soundOf(file("f32"), ["-f", "lavfi", "-i", filter]),
    async said(voice: string, text: string): Promise<Float32Array> {
      const wav = file("wav");
      await done("espeak-ng", ["-v", voice, "-s", "140", "-w", wav, text]);
      return soundOf(file("f32"), ["-i", wav, "-af", "apad=pad_dur=0.5"]);
    },
  };
}

/** The levels that a capture notes of a sound by ffmpeg's filters; `at` is before its end. */
export async function levelsOf(filter: string): Promise<readonly SoundLevel[]> {
  const input = `color=s=64x36:r=5:d=1[out0];${filter},aresample=48000[out1]`;
  const settings = avSettingsSchema.parse({ args: ["-f", "lavfi", "-i", input] });
  const ring = new SoundRing();
  let newest = 0;
  const nothing = () => undefined;
  const run = runFfmpeg(
    "/usr/bin/ffmpeg",
    ffmpegArguments(settings, { hasSound: true, recording: undefined }),
    {
      ...{ analysed: nothing, pictured: nothing, seen: nothing, sounded: nothing, recorded: nothing },
      ...{ decoderError: nothing, reconfigured: nothing },
      heard(seconds) {
        newest = seconds * 1_000;
        ring.begin(newest, 60_000);
      },
      noted: (key, value) => ring.note(key, value),
    },
  );
  await run.ended;
  return ring.levels(0).map((level) => ({ ...level, at: level.at - newest }));
}

function streamOf({ samples, levels = [] }: Heard): StreamSource {
  return {
    delay: { ms: 0, errorMs: 0 },
    events: () => [],
    hasSound: () => samples !== undefined || levels.length > 0,
    levels(from) {
      const end = performance.now();
      return levels.map((level) => ({ ...level, at: level.at + end })).filter(({ at }) => at >= from);
    },
    async listen(ms) {
      if (!samples) throw new DeviceError("NO_SIGNAL", "The source gives no picture.");
      return { samples: samples.subarray(0, (ms / 1_000) * perSecond), perSecond, at: 0 };
    },
  };
}

/** The driver `audio` of a device that sounded so; `undefined`: one without a stream. */
export function audio(
  heard: Heard | undefined,
  settings: object = {},
  more: Partial<ControllerContext> = {},
) {
  const context = { ...controllerContext("lab/tv"), ...more };
  const stream = () => {
    if (heard) return streamOf(heard);
    throw new DeviceError("CONTROLLER_UNAVAILABLE", "No controller has a stream.");
  };
  const [controller] = audioFactory.create(audioFactory.settings.parse(settings), {
    ...context,
    device: { ...context.device, stream },
  });
  if (!controller) throw new Error("The factory made no controller.");
  return controller;
}

/** What a check of the driver `audio` reads. */
export function judged(
  heard: Heard | undefined,
  name: string,
  params: object,
  {
    settings = {},
    since,
    more = {},
  }: { settings?: object; since?: number; more?: Partial<ControllerContext> } = {},
) {
  const check = audio(heard, settings, more).checks.find((one) => one.name === name);
  if (!check) throw new Error(`There is no check ${name}.`);
  return check.read(check.input.parse(params), never, since === undefined ? {} : { since });
}
