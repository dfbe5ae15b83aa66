import { type ControllerFactory, defineFactory, FrameHub } from "@labwright/controllers";
import { expect, it } from "vitest";
import { z } from "zod";
import { createRecent } from "#mcp-server/services/devices/screen/recent.ts";
import { controllerContext } from "../../../fixtures/controllerContext.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { type Part, part } from "../parts.ts";

const NEVER = new AbortController().signal;
const space = { width: 640, height: 360, rotation: 0 } as const;
const megabyte = 1_048_576;

const driverOf = (made: Part): ControllerFactory =>
  defineFactory({
    ...{ name: "parts", kinds: [made.kind], settings: z.looseObject({}), offers: () => [made] },
    create: () => [made],
  });

function startLab() {
  const clock = fakeClock();
  const recent = createRecent(clock);
  let bytes = Buffer.alloc(0);
  const screen = {
    capture: async () => ({
      ...space,
      bytes,
      mimeType: "image/png" as const,
      takenAt: "2026-01-01T00:00:00Z",
    }),
  };
  const open = (deviceId: string, made: Part) => {
    const [controller] = recent.keeping(driverOf(made)).create({}, controllerContext(deviceId));
    if (!controller) throw new Error("the driver made nothing");
    return controller;
  };
  const deviceOf = (deviceId: string) => {
    const controller = open(deviceId, part("web", undefined, { screen }));
    /** A picture of so many bytes that begins with `mark`, `afterMs` after the one before. */
    return async (mark: number, { afterMs = 1_000, size = 1, options = {} } = {}) => {
      await clock.advance(afterMs);
      bytes = Buffer.alloc(size, mark);
      await controller.screen?.capture(options, NEVER);
    };
  };
  const marks = (deviceId: string) => recent.of(deviceId).map((picture) => picture.bytes[0]);
  return { clock, recent, open, deviceOf, marks };
}

it("keeps each picture of the whole screen with its time, an equal one once, and no part of the screen", async () => {
  const { recent, deviceOf, marks } = startLab();
  const show = deviceOf("lab/a");
  for (const mark of [1, 1, 2, 1]) await show(mark);
  for (const options of [{ fullPage: true }, { ref: "e1" }, { area: { x: 0, y: 0, width: 1, height: 1 } }])
    await show(9, { options });
  const pictures = recent.of("lab/a");
  expect(marks("lab/a")).toEqual([1, 2, 1]);
  const start = Date.parse("2026-01-01T00:00:01Z");
  expect(pictures.map(({ at }) => at - start)).toEqual([0, 2_000, 3_000]);
  expect(pictures[2]?.bytes).toBe(pictures[0]?.bytes);
  expect(recent.of("lab/b")).toEqual([]);
});

it("thins out a screen that moves, and never loses the newest", async () => {
  const { deviceOf, marks } = startLab();
  const show = deviceOf("lab/a");
  for (let mark = 1; mark <= 16; mark++) {
    await show(mark, { afterMs: 200 });
    expect(marks("lab/a").at(-1)).toBe(mark);
  }
  expect(marks("lab/a")).toEqual([1, 5, 9, 13, 16]);
});

it("is bounded in number and bytes, of a device and of all, and loses the oldest", async () => {
  const { deviceOf, marks } = startLab();
  const show = deviceOf("lab/many");
  for (let mark = 0; mark < 310; mark++) await show(mark % 2 ? 1 : mark, { afterMs: 501 });
  expect(marks("lab/many")).toHaveLength(300);

  const large = deviceOf("lab/large");
  for (const mark of [1, 2, 3]) await large(mark, { size: 10 * megabyte });
  expect(marks("lab/large")).toEqual([2, 3]);
  await large(4, { size: 25 * megabyte });
  expect(marks("lab/large")).toEqual([]);

  for (const [index, name] of ["lab/1", "lab/2", "lab/3", "lab/4", "lab/5"].entries())
    await deviceOf(name)(index, { size: 20 * megabyte });
  expect(["lab/1", "lab/2", "lab/5"].map(marks)).toEqual([[], [1], [4]]);
});

it("keeps a picture for 5 minutes after it was last seen, and then holds nothing and no timer", async () => {
  const { clock, deviceOf, marks } = startLab();
  const show = deviceOf("lab/a");
  expect(clock.waiting()).toBe(0);
  await show(1);
  await show(1, { afterMs: 200_000 });
  await show(2, { afterMs: 100_000 });
  await clock.advance(199_000);
  expect(marks("lab/a")).toEqual([1, 2]);
  await clock.advance(2_000);
  expect(marks("lab/a")).toEqual([2]);
  await clock.advance(200_000);
  expect(clock.waiting()).toBe(0);
  expect(marks("lab/a")).toEqual([]);
});

it("takes one picture in 2 s of a video while it is open, and decodes none", async () => {
  const { clock, open, recent } = startLab();
  const hub = new FrameHub({ perSecond: 25 });
  const video = open("lab/tv", part("av", undefined, { frames: hub }));
  const push = async (count: number) => {
    for (let frame = 0; frame < count; frame++) {
      hub.push({ bytes: Buffer.from([frame]), pixels: "jpeg", space, presentedMs: clock.now() });
      await clock.advance(40);
    }
  };
  await push(25);
  expect(recent.of("lab/tv")).toEqual([]);
  await video.open(NEVER);
  await video.open(NEVER);
  await push(250);
  const { length } = recent.of("lab/tv");
  expect(length).toBeGreaterThanOrEqual(5);
  expect(length).toBeLessThanOrEqual(6);
  expect(hub.decoded).toBe(0);
  await video.close();
  hub.end();
  expect(recent.of("lab/tv")).toHaveLength(length);
});
