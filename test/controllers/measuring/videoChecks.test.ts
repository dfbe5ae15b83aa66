import {
  DeviceError,
  type Frame,
  FrameHub,
  type Moment,
  type SoundLevel,
  type StreamEvent,
  videoFactory,
} from "@labwright/controllers";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { controllerContext } from "../../fixtures/controllerContext.ts";

const never = new AbortController().signal;
const space = { width: 320, height: 180, rotation: 0 } as const;
const noise = Uint8Array.from({ length: 320 * 180 }, (_, at) => (at * 7_919) % 251);

/** A picture of noise that moves a pixel a frame; a part of it only where `rows` are named. */
const moving = (at: number, rows: readonly [number, number] = [0, 180]) =>
  noise.map((level, place) => {
    const row = Math.floor(place / 320);
    return row >= rows[0] && row < rows[1] && place % 320 < 320 * ((rows[1] - rows[0]) / 180)
      ? (noise[(place + at) % noise.length] ?? 0)
      : level;
  });
const still = () => noise;
const black = () => new Uint8Array(320 * 180).fill(8);
const spinner = (at: number) => moving(at, [80, 110]);

type Tv = { levels?: number; events?: readonly StreamEvent[]; reference?: Frame };

/** A device whose picture is pushed by the test, at 25 frames a second of its own clock. */
async function openTv({ levels, events, reference }: Tv = {}) {
  const hub = new FrameHub({ perSecond: 25 });
  const context = controllerContext("lab/tv");
  const none = () => {
    throw new DeviceError("CONTROLLER_UNAVAILABLE", "It has no stream");
  };
  const level = (at: Moment): SoundLevel => ({ at, peakDb: levels ?? 0, loudness: levels ?? 0 });
  const stream = () => ({
    delay: { ms: 0, errorMs: 0 },
    events: () => events ?? [],
    levels: (from: Moment) => (levels === undefined ? [] : [level(from), level(from + 100)]),
    hasSound: () => levels !== undefined,
    listen: none,
  });
  const [video] = videoFactory.create(videoFactory.settings.parse({}), {
    ...context,
    ...(reference && { reference: async () => ({ picture: reference }) }),
    device: { ...context.device, frames: () => hub, stream: levels === undefined && !events ? none : stream },
  });
  if (!video) throw new Error("The factory made no controller.");
  let presentedMs = 0;
  return {
    async read(name: string, params: object = {}, since = 0) {
      const check = video.checks.find((one) => one.name === name);
      if (!check) throw new Error(`There is no check ${name}.`);
      const { holds, actual, inconclusive } = await check.read(check.input.parse(params), never, { since });
      return { holds: inconclusive === undefined ? holds : ("inconclusive" as const), actual };
    },
    async show(picture: (at: number) => Uint8Array, frames = 55) {
      for (let at = 0; at < frames; at++) {
        hub.push({ bytes: picture(at), pixels: "gray", space, presentedMs });
        presentedMs += 40;
        await new Promise(setImmediate);
      }
    },
    close: () => video.close(),
  };
}

/** What each check says of a picture that was shown for two seconds. */
async function verdictsOn(picture: (at: number) => Uint8Array, tv: Tv = {}) {
  const device = await openTv(tv);
  try {
    // The first question begins to take frames.
    expect(await device.read("motion")).toMatchObject({ holds: "inconclusive" });
    await device.show(picture);
    const names = ["motion", "black", "freeze", "picture_stable", "playing"];
    const verdicts = await Promise.all(names.map(async (name) => [name, (await device.read(name)).holds]));
    return Object.fromEntries(verdicts);
  } finally {
    await device.close();
  }
}

const nothing = { motion: false, black: false, freeze: false, picture_stable: false, playing: false };

describe("checks of a running picture", () => {
  it("tell a video, a still picture, black and a spinner from each other", async () => {
    expect(await verdictsOn(moving)).toEqual({ ...nothing, motion: true, playing: true });
    expect(await verdictsOn(still)).toEqual({ ...nothing, freeze: true, picture_stable: true });
    expect(await verdictsOn(black)).toEqual({ ...nothing, black: true, picture_stable: true });
    expect(await verdictsOn(spinner)).toEqual({ ...nothing, motion: true, playing: "inconclusive" });
  });

  it("take sound into account where the source has any", async () => {
    expect(await verdictsOn(moving, { levels: -90 })).toMatchObject({ motion: true, playing: false });
    expect(await verdictsOn(spinner, { levels: -20 })).toMatchObject({ motion: true, playing: true });
  });

  it("are inconclusive until enough was shown since the last input, and on a device without frames", async () => {
    const tv = await openTv();
    await tv.read("motion");
    await tv.show(moving);
    expect(await tv.read("motion", {}, performance.now())).toMatchObject({ holds: "inconclusive" });
    expect(await tv.read("motion", { for_ms: 10_000 })).toMatchObject({ holds: "inconclusive" });
    await tv.close();
    const context = controllerContext("lab/phone");
    const frames = () => {
      throw new DeviceError("CONTROLLER_UNAVAILABLE", "No controller of lab/phone sends frames.");
    };
    const device = { ...context.device, frames };
    const [video] = videoFactory.create(videoFactory.settings.parse({}), { ...context, device });
    for (const name of ["motion", "black", "playing", "no_signal"]) {
      const check = video?.checks.find((one) => one.name === name);
      expect(await check?.read(check.input.parse({}), never)).toMatchObject({
        holds: false,
        inconclusive: "No controller of lab/phone sends frames.",
      });
    }
  });

  it("count what the decoder complained of, and frames that do not come", async () => {
    const at = performance.now();
    const error = (facts: StreamEvent["facts"] = {}): StreamEvent => ({
      kind: "decoder_error",
      from: at,
      facts,
    });
    const tv = await openTv({ events: [error(), error({ lines: 3 }), { ...error(), kind: "cut" }] });
    const read = (max: number) => tv.read("decoder_errors", { max, for_ms: 20_000 }, -60_000);
    expect([await read(3), await read(4)]).toEqual([
      { holds: false, actual: "4 errors" },
      { holds: true, actual: "4 errors" },
    ]);
    expect(await tv.read("no_signal", { for_ms: 200 }, performance.now())).toMatchObject({
      holds: "inconclusive",
    });
    await expect.poll(() => tv.read("no_signal", { for_ms: 200 })).toMatchObject({ holds: true });
    await tv.show(moving, 1);
    expect(await tv.read("no_signal", { for_ms: 20_000 })).toMatchObject({ holds: false });
    await tv.close();
  });

  it("find blocks that a reference has not", async () => {
    const raw = { width: 320, height: 180, channels: 1 } as const;
    const soft = (place: number) => 100 + (place % 320) / 4;
    const good = await sharp(
      Uint8Array.from({ length: 320 * 180 }, (_, place) => soft(place)),
      { raw },
    )
      .png()
      .toBuffer();
    const reference: Frame = {
      ...{ bytes: good, mimeType: "image/png", width: 320, height: 180, rotation: 0 },
      takenAt: new Date(0).toISOString(),
    };
    const tv = await openTv({ reference });
    const blocks = Uint8Array.from({ length: 320 * 180 }, (_, place) => soft(place - (place % 8)));
    await tv.show(() => Uint8Array.from({ length: 320 * 180 }, (_, place) => soft(place)), 1);
    expect(await tv.read("blockiness", { reference: "good" })).toMatchObject({ holds: true });
    await tv.show(() => blocks, 1);
    expect(await tv.read("blockiness", { reference: "good" })).toMatchObject({ holds: false });
    await tv.close();
  });
});
