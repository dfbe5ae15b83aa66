import { DeviceError, videoFactory } from "@labwright/controllers";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { testAddons } from "../fixtures/addons.ts";
import { controllerContext } from "../fixtures/controllerContext.ts";
import { playedClip } from "../fixtures/playedClip.ts";
import { writtenFrame } from "../fixtures/writtenPictures.ts";
import {
  frameMs,
  judgedZap,
  keyOf,
  recordZap,
  truthOf,
  type ZapClip,
  zapClips,
} from "../fixtures/zapClips.ts";

const never = new AbortController().signal;
/** All of the picture is judged, so that no banner is waited for. */
const withoutBanner = { area_without_banner: { x: 0, y: 0, width: 1, height: 1 } };

describe("a change of channel in a file of ffmpeg", () => {
  it.each(zapClips)("$name: is told to the frame", async (clip) => {
    const { found, truth } = await judgedZap(clip);
    expect(found).toEqual(truth);
  });
});

/** Runs a command of the driver on a device that plays a clip. */
async function measure(command: string, clip: ZapClip, params: object = {}, stopAt?: number) {
  const [video] = videoFactory.create(
    videoFactory.settings.parse({}),
    playedClip(await recordZap(clip), keyOf(clip), stopAt),
  );
  const found = video?.commands.find(({ name }) => name === command);
  if (!found) throw new Error(`There is no ${command}.`);
  return found.run(found.input.parse(params), never);
}

const clipOf = (wanted: string): ZapClip => {
  const clip = zapClips.find(({ name }) => name === wanted);
  if (!clip) throw new Error(`There is no clip ${wanted}.`);
  return clip;
};

describe("measure_zap", () => {
  it("tells picture and sound after the key, their errors, and a strip of the frames that prove it", async () => {
    const clip = clipOf("sound gap");
    const { data = {}, file = "", sentAt } = await measure("measure_zap", clip, withoutBanner);
    const { firstNew, lastOld, black } = truthOf(clip);
    const fromKey = (ms: number) => ms - keyOf(clip);
    expect(data).toMatchObject({
      ...{
        how: "black",
        zap_ms: fromKey(firstNew),
        kpi_ms: fromKey(firstNew),
        last_old_ms: fromKey(lastOld),
        stable_ms: fromKey(firstNew),
      },
      ...{ black_from_ms: fromKey(black?.from ?? 0), black_until_ms: fromKey(firstNew), sound: "back" },
      // An interval of the frames, and the error of the capture's delay.
      error_ms: frameMs + 5,
    });
    const [lost, back] = clip.silent ?? [0, 0];
    for (const [name, told] of [
      [lost, data.sound_lost_ms],
      [back, data.sound_back_ms],
    ] as const)
      expect(Math.abs(Number(told) - fromKey(1_000 * name))).toBeLessThanOrEqual(Number(data.sound_error_ms));
    const { width, height, format } = await sharp(file).metadata();
    expect([format, width, Number(height) > 2 * 180]).toEqual(["png", 3 * 320, true]);
    expect(data.frames_ms).toEqual(
      expect.arrayContaining([`${fromKey(firstNew)} ms`, `${fromKey(firstNew) - frameMs} ms`]),
    );
    expect(sentAt).toEqual(expect.any(Number));
  });

  it("tells a picture that never changes from a stream that ends", async () => {
    const old = { name: "no change", key: 30, old: 90, new: 1 };
    await expect(measure("measure_zap", old, { timeout_ms: 1_500 })).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
    });
    await expect(measure("measure_zap", old, {}, 40)).rejects.toMatchObject({ code: "DEVICE_ERROR" });
  });
});

describe("measure_transition and measure_playback", () => {
  it("tell the first change, from when on nothing changes, and what stalled", async () => {
    const clip = { name: "menu", key: 30, old: 60, stillOld: true, black: 50, new: 30 } as const;
    const { data } = await measure("measure_transition", clip, { key: "MENU" });
    const changed = 60 * frameMs - keyOf(clip);
    expect(data).toMatchObject({ first_change_ms: changed, stable_ms: changed, moved_before: false });
    // The picture that stands still was shown for a frame before.
    const stalls = { name: "stall", key: 30, old: 50, frozen: 20, black: 10, new: 40 };
    const playback = await measure("measure_playback", stalls, { key: "PLAY", duration_ms: 3_000 });
    expect(playback.data).toMatchObject({
      ...{ startup_ms: expect.any(Number), stall_count: 1, stalls: [{ ms: 21 * frameMs }] },
      ...{ stalled_ms: 21 * frameMs, black_ms: 10 * frameMs, silence_ms: 0 },
    });
  });
});

describe("text over the picture", () => {
  it("is read as the banner below the area that is judged", async () => {
    const clip: ZapClip = {
      name: "banner",
      key: 30,
      old: 36,
      black: 12,
      new: 60,
      banner: 30,
      bannerText: "102 BBC Two",
    };
    expect((await measure("measure_zap", clip)).data).toMatchObject({ how: "black", banner: "102 BBC Two" });
  });

  const [text, size] = ["Je ne sais pas encore où il est", 26];
  const subtitled = (words: string) =>
    writtenFrame({
      ...{ width: 1_280, height: 720, background: "#345" },
      texts: [
        { text: "Newsnight", x: 60, y: 120, size },
        { text: words, x: 300, y: 650, size },
      ],
    });
  const judge = async (words: string, params: object, addons = testAddons) => {
    const [video] = videoFactory.create(videoFactory.settings.parse({ languages: ["fra"] }), {
      ...controllerContext("lab/tv"),
      addons,
    });
    const check = video?.checks.find(({ name }) => name === "subtitles");
    if (!check) throw new Error("There is no such check.");
    const reading = await check.read(check.input.parse(params), never, { frame: await subtitled(words) });
    return reading.inconclusive ?? reading.missing ?? reading.holds;
  };

  it("is judged as subtitles, with what they say and their language", async () => {
    expect(await judge("", {})).toBe("absent");
    expect(await judge(text, {})).toBe(true);
    expect(await judge(text, { text: "sais pas encore" })).toBe(true);
    expect(await judge(text, { text: "Newsnight" })).toBe(false);
    expect(await judge(text, { language: "fra" })).toBe(true);
    expect(await judge(text, { language: "deu" })).toBe(false);
    expect(await judge("Paris", { language: "fra" })).toContain("too short");
  });

  it("is not judged without what reads it", async () => {
    const load = () => Promise.reject(new DeviceError("ADDON_MISSING", "Run: labwright setup vision"));
    expect(await judge(text, {}, { ...testAddons, load })).toContain("labwright setup vision");
  });
});
