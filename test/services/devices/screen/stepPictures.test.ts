import {
  type DriverController,
  defineFactory,
  type Frame,
  FrameHub,
  type FrameSource,
} from "@labwright/controllers";
import sharp from "sharp";
import { expect, test } from "vitest";
import { z } from "zod";
import { StepPictures } from "../../../../mcp-server/src/services/devices/screen/stepPictures.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { openBox } from "../../../fixtures/simulated.ts";

const signal = new AbortController().signal;
const space = { width: 8, height: 4, rotation: 0 } as const;

/** A device whose picture is made by `capture`, with these frames. */
function screenBox(capture: () => Promise<Frame>, frames?: FrameSource) {
  const controller: DriverController = {
    ...{ kind: "remote", commands: [], checks: [], screen: { capture }, ...(frames && { frames }) },
    open: async () => {},
    close: async () => {},
    isAlive: () => true,
    noticesAfter: () => [],
  };
  const factory = defineFactory({
    ...{ name: "simulated", kinds: ["remote"], settings: z.unknown(), offers: () => [] },
    create: () => [controller],
  });
  return openBox({ factories: [factory] });
}

async function png(): Promise<Frame> {
  const create = { ...space, channels: 3, background: "#234" } as const;
  return { ...space, mimeType: "image/png", bytes: await sharp({ create }).png().toBuffer(), takenAt: "" };
}

test("a picture of a step is a JPEG of the same space", async () => {
  const taken = await new StepPictures(fakeClock()).take(await screenBox(png), signal);
  expect(taken).toMatchObject({ ...space, mimeType: "image/jpeg" });
  expect(await sharp(taken?.bytes).metadata()).toMatchObject({ format: "jpeg", width: 8, height: 4 });
});

test("a device with frames gives the latest one, and nobody takes a picture", async () => {
  const hub = new FrameHub({ perSecond: 25 });
  const box = await screenBox(() => Promise.reject(new Error("a picture was taken")), hub);
  const bytes = new Uint8Array(8 * 4 * 3).fill(90);
  for (const presentedMs of [0, 40]) hub.push({ bytes, pixels: "rgb", space, presentedMs });
  expect(await new StepPictures(fakeClock()).take(box, signal)).toMatchObject({
    ...{ number: 2, mimeType: "image/jpeg", width: 8 },
  });
});

test("a device is slow when its last three pictures all took over 300 ms, and says what they take", async () => {
  const clock = fakeClock();
  const took = [900, 450, 200, 301, 500, 420, 100];
  const box = await screenBox(async () => {
    await clock.advance(took.shift() ?? 0);
    return png();
  });
  const pictures = new StepPictures(clock);
  const said: (string | undefined)[] = [];
  while (took.length > 0) {
    await pictures.take(box, signal);
    said.push(pictures.slowness(box.id));
  }
  expect(said.map((one) => one?.match(/\d+ ms/)?.[0])).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
    ...["301 ms", undefined],
  ]);
  expect(pictures.slowness("another device")).toBeUndefined();
});
