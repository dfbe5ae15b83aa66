import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  audioFactory,
  DeviceError,
  runProgram,
  type SoundLevel,
  type StreamSource,
} from "@labwright/controllers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllerContract } from "../../controllers/contract.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "labwright-sound-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const perSecond = 16_000;

async function done(program: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(program, args, { signal: never, timeoutMs: 60_000 });
  if (code !== 0) throw new Error(`${program}: ${stderr}`);
}

/** What ffmpeg makes of its arguments, at 16,000 samples a second. */
async function soundOf(name: string, input: readonly string[]): Promise<Float32Array> {
  const file = join(folder, `${name}.f32`);
  await done("ffmpeg", ["-v", "error", ...input, "-ac", "1", "-ar", `${perSecond}`, "-f", "f32le", file]);
  const { readFileSync } = await import("node:fs");
  const bytes = readFileSync(file);
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

const made = (name: string, filter: string) => soundOf(name, ["-f", "lavfi", "-i", filter]);

async function said(name: string, voice: string, text: string) {
  const wav = join(folder, `${name}.wav`);
  await done("espeak-ng", ["-v", voice, "-s", "140", "-w", wav, text]);
  return soundOf(name, ["-i", wav, "-af", "apad=pad_dur=0.5"]);
}

/** A stream whose past is these samples: levels of a tenth of a second each, the newest now. Loudness as peaks have it. */
function streamOf(samples: Float32Array): StreamSource {
  const size = perSecond / 10;
  return {
    delay: { ms: 0, errorMs: 0 },
    events: () => [],
    hasSound: () => samples.length > 0,
    levels(from) {
      const now = performance.now();
      const count = Math.floor(samples.length / size);
      const levels = Array.from({ length: count }, (_, at): SoundLevel => {
        const part = samples.subarray(at * size, (at + 1) * size);
        const peak = part.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
        const power = part.reduce((sum, one) => sum + one * one, 0) / part.length;
        const loudness = 10 * Math.log10(power) - 0.691;
        return { at: now - (count - 1 - at) * 100, peakDb: 20 * Math.log10(peak), loudness };
      });
      return levels.filter(({ at }) => at >= from);
    },
    listen: async (ms) => ({ samples: samples.subarray(0, (ms / 1_000) * perSecond), perSecond, at: 0 }),
  };
}

function audio(samples: Float32Array | undefined) {
  const context = controllerContext("lab/tv");
  const stream = () => {
    if (samples) return streamOf(samples);
    throw new DeviceError("CONTROLLER_UNAVAILABLE", "No controller has a stream.");
  };
  const [controller] = audioFactory.create({}, { ...context, device: { ...context.device, stream } });
  if (!controller) throw new Error("The factory made no controller.");
  return controller;
}

function judged(samples: Float32Array | undefined, name: string, params: object, since?: number) {
  const check = audio(samples).checks.find((one) => one.name === name);
  if (!check) throw new Error(`There is no check ${name}.`);
  return check.read(check.input.parse(params), never, since === undefined ? {} : { since });
}

describe("sounds made by ffmpeg and espeak-ng", () => {
  const none: Float32Array = new Float32Array();
  let [tone, noise, silence, gap] = [none, none, none, none];
  const speech: Record<string, Float32Array> = {};
  beforeAll(async () => {
    tone = await made("tone", "sine=frequency=440:duration=4,volume=4");
    noise = await made("noise", "anoisesrc=duration=4:amplitude=0.3:seed=7");
    silence = await made("silence", "anullsrc=r=16000:cl=mono,atrim=duration=4");
    gap = await made("gap", "sine=frequency=440:duration=6,volume=enable='between(t,1,4)':volume=0");
    speech.right = await said("right", "en", "welcome to the living room");
    speech.other = await said("other", "en", "the weather is cold today");
    speech.french = await said("french", "fr", "bonjour, il fait froid dehors");
  });

  it("have a level, are silent or play, and were lost or not", async () => {
    const peak = { min_db: -8, max_db: -4 };
    expect(await judged(tone, "audio_level", peak)).toMatchObject({ holds: true });
    expect(await judged(silence, "audio_level", peak)).toMatchObject({
      holds: false,
      actual: "no sound at all",
    });
    expect(await judged(silence, "audio_silent", {})).toMatchObject({ holds: true });
    expect(await judged(tone, "audio_silent", {})).toMatchObject({ holds: false });
    expect(await judged(tone, "audio_playing", {})).toMatchObject({ holds: true });
    expect(await judged(silence, "audio_playing", {})).toMatchObject({ holds: false });
    expect(await judged(gap, "audio_lost", { for_ms: 2_500 })).toMatchObject({ holds: true });
    expect(await judged(gap, "audio_lost", { for_ms: 3_500 })).toMatchObject({ holds: false });
    expect(await judged(tone, "loudness", { min: -12, max: -7 })).toMatchObject({ holds: true });
    expect(await judged(tone, "loudness", { max: -20 })).toMatchObject({ holds: false });
  });

  it("are a tone, or not", async () => {
    expect(await judged(tone, "tone", { hz: 445 })).toMatchObject({ holds: true });
    expect(await judged(tone, "tone", { hz: 500 })).toMatchObject({ holds: false });
    expect(await judged(noise, "tone", { hz: 440 })).toMatchObject({ holds: false });
    expect(await judged(silence, "tone", { hz: 440 })).toMatchObject({ holds: false, actual: "silence" });
  });

  it("hold an expected phrase of English words, and nothing is guessed", async () => {
    const phrase = { text: "Welcome to the living room" };
    expect(await judged(speech.right, "phrase", phrase)).toMatchObject({ holds: true });
    for (const name of ["other", "french"]) {
      const reading = await judged(speech[name], "phrase", phrase);
      expect(reading, name).toMatchObject({ holds: false });
      expect(reading.inconclusive, name).toBeUndefined();
    }
    for (const text of ["il fait froid à Paris", "channel 5", "zzxqv"])
      expect(await judged(speech.right, "phrase", { text }), text).toMatchObject({
        holds: false,
        inconclusive: expect.any(String),
      });
  });

  it("cannot be judged without a stream, a sound track, or sound since the last input", async () => {
    const reasons = [
      await judged(undefined, "audio_silent", {}),
      await judged(new Float32Array(), "audio_playing", {}),
      await judged(tone, "audio_silent", {}, performance.now()),
      await judged(silence.subarray(0, perSecond), "audio_silent", { for_ms: 3_000 }),
    ];
    for (const reading of reasons)
      expect(reading).toMatchObject({ holds: false, inconclusive: expect.any(String) });
  });
});

controllerContract("the driver audio", async () => ({
  controller: audio(new Float32Array(perSecond)),
  factory: audioFactory,
  dispose: async () => {},
}));
