import { type Rect, videoFactory } from "@labwright/controllers";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { measuringCommands } from "#controllers/measuring/commands.ts";
import { playedClip } from "../fixtures/playedClip.ts";
import {
  frameMs,
  judgedZap,
  keyOf,
  recordZap,
  truthOf,
  type ZapClip,
  zapClips,
} from "../fixtures/zapClips.ts";

describe("a change of channel in a file of ffmpeg", () => {
  it.each(zapClips)("$name: is told to the frame", async (clip) => {
    const { found, truth } = await judgedZap(clip);
    expect(found).toEqual(truth);
  });
});

/** Runs a command of the driver on a device that plays a clip. */
async function measure(command: string, clip: ZapClip, params: object = {}, stopAt?: number) {
  const [video] = videoFactory.create({}, playedClip(await recordZap(clip), keyOf(clip), stopAt));
  const found = video?.commands.find(({ name }) => name === command);
  if (!found) throw new Error(`There is no ${command}.`);
  return found.run(found.input.parse(params), new AbortController().signal);
}

const clipOf = (wanted: string): ZapClip => {
  const clip = zapClips.find(({ name }) => name === wanted);
  if (!clip) throw new Error(`There is no clip ${wanted}.`);
  return clip;
};

describe("measure_zap", () => {
  it("tells picture and sound after the key, their errors, and a strip of the frames that prove it", async () => {
    const clip = clipOf("sound gap");
    const { data = {}, file = "", sentAt } = await measure("measure_zap", clip);
    const { firstNew, lastOld, black } = truthOf(clip);
    const fromKey = (ms: number) => ms - keyOf(clip);
    expect(data).toMatchObject({
      ...{
        how: "black",
        zap_ms: fromKey(firstNew),
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

describe("the banner", () => {
  it("is read below the area that is judged, once it is there", async () => {
    const texts: string[][] = [[], ["102 BBC Two HD", "Newsnight"]];
    const areas: Rect[] = [];
    const read = async (_seen: unknown, area: Rect) => {
      areas.push(area);
      return texts.shift() ?? [];
    };
    const context = playedClip(await recordZap(clipOf("black")), keyOf(clipOf("black")));
    const zap = measuringCommands(context, read).find(({ name }) => name === "measure_zap");
    const { data } = (await zap?.run(zap.input.parse({}), new AbortController().signal)) ?? {};
    expect(data).toMatchObject({ banner: "102 BBC Two HD / Newsnight" });
    expect(areas[0]).toEqual({ x: 0, y: 119, width: 320, height: 61 });
  });
});
