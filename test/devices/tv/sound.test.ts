import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { audioFactory, DeviceError } from "@labwright/controllers";
import { afterAll, describe, expect, it } from "vitest";
import { controllerContract } from "../../controllers/contract.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { audio, done, judged, levelsOf, perSecond, soundsIn } from "./sounds.ts";

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "labwright-sound-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { made, said } = soundsIn(folder);
const inconclusive = { holds: false, inconclusive: expect.any(String) };
const numberIn = (text: string) => Number(/-?\d+(\.\d+)?/.exec(text)?.[0]);

describe("levels", () => {
  it.each([
    "sine=frequency=440:duration=4,volume=4",
    "sine=frequency=3000:duration=4,volume=-12dB",
    "anoisesrc=duration=4:amplitude=0.3:seed=7",
    "anoisesrc=duration=4:amplitude=0.02:seed=8:color=pink",
    "aevalsrc='0.2*sin(2*PI*262*t)+0.2*sin(2*PI*330*t)+0.2*sin(2*PI*392*t):d=4'",
  ])("of %s are those of ffmpeg's volumedetect and ebur128", async (filter) => {
    const heard = { levels: await levelsOf(filter) };
    const judge = await done("ffmpeg", [
      ...["-hide_banner", "-nostats", "-f", "lavfi", "-i", filter],
      ...["-af", "aresample=48000,volumedetect,ebur128", "-f", "null", "-"],
    ]);
    const peak = Number(/max_volume: (\S+) dB/.exec(judge)?.[1]);
    const loudness = Number(/Integrated loudness:\s+I:\s+(\S+) LUFS/.exec(judge)?.[1]);
    const level = await judged(heard, "audio_level", { for_ms: 5_000 });
    expect(Math.abs(numberIn(level.actual) - peak), `${level.actual} and ${peak}`).toBeLessThan(0.2);
    const loud = await judged(heard, "loudness", {});
    expect(Math.abs(numberIn(loud.actual) - loudness), `${loud.actual} and ${loudness}`).toBeLessThan(0.3);
    const isLouder = await judged(heard, "loudness", { min: loudness + 1 });
    expect([isLouder.holds, loud.holds, level.holds]).toEqual([false, true, true]);
    expect(await judged(heard, "audio_level", { max_db: peak - 1, for_ms: 5_000 })).toMatchObject({
      holds: false,
    });
  });

  it.each([
    [1, 4],
    [0.5, 1.2],
    [2.5, 6],
    [0, 6],
  ])("silent from %d to %d s of 6 are lost as long as ffmpeg's silencedetect says", async (from, to) => {
    const filter = `sine=frequency=440:duration=6,volume=enable='between(t,${from},${to})':volume=0`;
    const heard = { levels: await levelsOf(filter) };
    const judge = await done("ffmpeg", [
      ...["-hide_banner", "-nostats", "-f", "lavfi", "-i", filter],
      ...["-af", "silencedetect=n=-60dB:d=0.2", "-f", "null", "-"],
    ]);
    const ms = Math.round(1_000 * Number(/silence_duration: (\S+)/.exec(judge)?.[1]));
    const { actual } = await judged(heard, "audio_lost", {});
    expect(Math.abs(numberIn(actual) - ms), `${actual} and ${ms} ms`).toBeLessThanOrEqual(200);
    expect(actual).toContain("± 200");
    expect(await judged(heard, "audio_lost", { for_ms: ms + 300 })).toMatchObject({ holds: false });
    expect(await judged(heard, "audio_lost", { for_ms: ms - 300 })).toMatchObject({ holds: true });
    const isSilent = to === 6;
    expect(await judged(heard, "audio_silent", {})).toMatchObject({ holds: isSilent });
    expect(await judged(heard, "audio_playing", {})).toMatchObject({ holds: !isSilent });
  });

  it("cannot be judged without a stream, a sound track, or enough sound since the last input", async () => {
    const second = { levels: await levelsOf("anullsrc=r=48000:cl=mono,atrim=duration=1") };
    expect(await judged(second, "audio_silent", {})).toMatchObject({
      holds: true,
      actual: "no sound at all",
    });
    const reasons = [
      await judged(undefined, "audio_silent", {}),
      await judged({}, "audio_playing", {}),
      await judged(second, "audio_silent", {}, { since: performance.now() }),
      await judged(second, "audio_silent", { for_ms: 3_000 }),
      await judged(second, "audio_lost", {}),
      await judged({ levels: second.levels }, "speech", {}),
    ];
    for (const reading of reasons) expect(reading).toMatchObject(inconclusive);
  });
});

describe("a tone", () => {
  const second = (at: (time: number) => number) =>
    Float32Array.from({ length: perSecond }, (_, n) => at(n / perSecond));
  const sine =
    (hz: number, amplitude = 0.5) =>
    (time: number) =>
      amplitude * Math.sin(2 * Math.PI * hz * time);
  const tone = (samples: Float32Array, hz: number, tolerance = 10) =>
    judged({ samples }, "tone", { hz, tolerance });

  it.each([
    [440, 445, 10],
    [445, 440, 500],
    [1_000, 1_000, 1],
    [60, 50, 10],
    [7_000, 7_250, 250],
  ])("of %d Hz is found at %d ± %d", async (played, hz, tolerance) => {
    expect(await tone(second(sine(played)), hz, tolerance)).toMatchObject({ holds: true });
  });

  it.each([
    [440, 500, 10],
    [452, 440, 10],
    [443, 440, 1],
    [880, 440, 400],
  ])("of %d Hz is not found at %d ± %d", async (played, hz, tolerance) => {
    expect(await tone(second(sine(played)), hz, tolerance)).toMatchObject({ holds: false });
  });

  it("is told from noise, a chord and silence", async () => {
    const noise = await made("anoisesrc=duration=1:amplitude=0.3:seed=7");
    const noisy = second(sine(1_003, 0.4)).map((sample, at) => sample + (noise[at] ?? 0) / 3);
    expect(await tone(noisy, 1_000)).toMatchObject({ holds: true });
    expect(await tone(noise, 440)).toMatchObject({ holds: false });
    const chord = second((time) => sine(262, 0.2)(time) + sine(330, 0.2)(time) + sine(392, 0.2)(time));
    expect(await tone(chord, 330)).toMatchObject({ holds: false });
    expect(
      await tone(
        second(() => 0),
        440,
      ),
    ).toMatchObject({ holds: false, actual: "silence" });
  });
});

describe("what is said", () => {
  it("is speech in any language, and no tone, noise or tune", async () => {
    for (const [voice, text] of [
      ["en", "the news begin at eight tonight"],
      ["fr", "bonjour, il fait froid dehors"],
    ] as const) {
      const reading = await judged({ samples: await said(voice, text) }, "speech", { listen_ms: 3_000 });
      expect(reading, voice).toMatchObject({
        holds: true,
        actual: expect.stringContaining("(± 32) in 3000 ms"),
      });
      expect(numberIn(reading.actual), voice).toBeGreaterThan(1_000);
    }
    const parts = [
      "sine=frequency=440:duration=1",
      "anoisesrc=duration=1:amplitude=0.3:seed=3:color=pink",
      "aevalsrc='(0.3*sin(2*PI*262*t)+0.2*sin(2*PI*524*t)+0.1*sin(2*PI*786*t))*exp(-6*mod(t,0.4))':d=2",
      "anullsrc=r=16000:cl=mono,atrim=duration=1",
    ];
    const sounds = await Promise.all(parts.map(made));
    const samples = Float32Array.from(sounds.flatMap((one) => [...one]));
    expect(await judged({ samples }, "speech", {})).toMatchObject({
      holds: false,
      actual: expect.stringMatching(/^0 ms/),
    });
  });

  it("is not judged as speech without the add-on", async () => {
    const load = async () => {
      throw new DeviceError(
        "ADDON_MISSING",
        "The add-on speech is not installed. Run: labwright setup speech",
      );
    };
    const more = { addons: { ...testAddons, load } };
    const reading = await judged({ samples: new Float32Array(perSecond) }, "speech", {}, { more });
    expect(reading).toMatchObject({ holds: false, inconclusive: expect.stringContaining("setup speech") });
  });

  it("is an expected English phrase or not, and nothing is guessed", async () => {
    const samples = await said("en", "welcome to the living room");
    const phrase = { text: "Welcome to the living room" };
    expect(await judged({ samples }, "phrase", phrase)).toMatchObject({ holds: true });
    const other = await judged(
      { samples: await said("fr", "bonjour, il fait froid dehors") },
      "phrase",
      phrase,
    );
    expect(other).toMatchObject({ holds: false });
    expect(other.inconclusive).toBeUndefined();
    for (const text of ["il fait froid à Paris", "channel 5", "zzxqv"])
      expect(await judged({ samples }, "phrase", { text }), text).toMatchObject(inconclusive);
  });

  it("is written down, and its language told, by programs of the user alone", async () => {
    const samples = await said("en", "welcome to the living room");
    const grammar = join(folder, "sentences.gram");
    const sentences = "( welcome to the living room | good night to all of you )";
    writeFileSync(grammar, `#JSGF V1.0;\ngrammar all;\npublic <all> = ${sentences};\n`);
    const transcribe = ["pocketsphinx_continuous", "-jsgf", grammar, "-infile", "{file}"];
    const heard = { settings: { transcribe } };
    const reading = await judged({ samples }, "transcript", { text: "The  LIVING, room!" }, heard);
    expect(reading).toMatchObject({ holds: true, actual: '"welcome to the living room"' });
    const script = join(folder, "language.mjs");
    writeFileSync(
      script,
      `import { readFileSync } from "node:fs";
const wav = readFileSync(process.argv[2]);
if (wav.toString("latin1", 0, 4) !== "RIFF" || wav.readUInt32LE(24) !== 16_000) process.exit(3);
console.log(process.argv[3]);\n`,
    );
    const language = (says: string) => ({
      settings: { language: [process.execPath, script, "{file}", says] },
    });
    const asked = { language: "fr" };
    expect(await judged({ samples }, "audio_language", asked, language("fr"))).toMatchObject({ holds: true });
    expect(await judged({ samples }, "audio_language", asked, language("en"))).toMatchObject({
      ...{ holds: false, actual: "en" },
    });
    expect(await judged({ samples }, "audio_language", asked, language("French"))).toMatchObject(
      inconclusive,
    );
    const broken = { settings: { transcribe: [process.execPath, "-e", "process.exit(4)", "{file}"] } };
    expect(await judged({ samples }, "transcript", { text: "x" }, broken)).toMatchObject({
      ...{ holds: false, inconclusive: expect.stringContaining("code 4") },
    });
    expect(await judged({ samples }, "transcript", { text: "x" })).toMatchObject(inconclusive);
    expect(await judged({ samples }, "audio_language", asked)).toMatchObject(inconclusive);
    expect(audioFactory.settings.safeParse({ transcribe: ["whisper"] }).success).toBe(false);
  });

  it("in a recording is written down by the same program", async () => {
    const video = join(folder, "recording.ts");
    const inputs = ["-f", "lavfi", "-i", "color=s=64x36:r=5:d=2", "-f", "lavfi", "-i", "sine=duration=2"];
    await done("ffmpeg", ["-v", "error", ...inputs, "-f", "mpegts", video]);
    const script = join(folder, "length.mjs");
    writeFileSync(
      script,
      `import { statSync } from "node:fs";
console.log("it lasts\\n", Math.round(statSync(process.argv[2]).size / 32_000), "seconds");\n`,
    );
    const settings = { transcribe: [process.execPath, script, "{file}"] };
    expect(await audio({}, settings).transcriber?.transcribe(video, never)).toEqual({
      text: "it lasts 2 seconds",
    });
    const mute = join(folder, "mute.ts");
    await done("ffmpeg", ["-v", "error", ...inputs.slice(0, 4), "-f", "mpegts", mute]);
    await expect(audio({}, settings).transcriber?.transcribe(mute, never)).rejects.toMatchObject({
      code: "DEVICE_ERROR",
    });
    expect(audio({}).transcriber).toBeUndefined();
  });
});

controllerContract("the driver audio", async () => ({
  controller: audio({ samples: new Float32Array(perSecond) }),
  factory: audioFactory,
  dispose: async () => {},
}));
