import {
  type DriverController,
  type Dump,
  defineFactory,
  type Element,
  type Frame,
  FrameHub,
  type FrameSource,
  type Space,
} from "@labwright/controllers";
import sharp from "sharp";
import { expect, test } from "vitest";
import { z } from "zod";
import { drawMarks, StepPictures, scaleFrame } from "#mcp-server/services/devices/screen/pictures.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { seenSize } from "../../../fixtures/messagesApi/images.ts";
import { knownModels } from "../../../fixtures/messagesApi/models.ts";
import { openBox } from "../../../fixtures/simulated.ts";

async function picture(width: number, height: number): Promise<Uint8Array> {
  return sharp({ create: { width, height, channels: 3, background: "#ffffff" } })
    .png()
    .toBuffer();
}

function element(ref: string, rect: Element["rect"]): Element {
  return {
    ref,
    role: "button",
    name: ref,
    states: [],
    depth: 0,
    interactive: true,
    ...(rect ? { rect } : {}),
  };
}

async function frame(space: Space): Promise<Frame> {
  return {
    ...space,
    mimeType: "image/png",
    bytes: await picture(space.width, space.height),
    takenAt: "2026-01-01T00:00:00.000Z",
  };
}

const dump = (space: Space, elements: Element[]): Dump => ({
  ...{ generation: 1, location: "", title: "", notices: [] },
  space,
  elements,
});

async function whites(marked: Uint8Array) {
  const { data, info } = await sharp(marked).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const isWhite = (x: number, y: number) =>
    data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3).every((one) => one === 255);
  return { size: [info.width, info.height], isWhite };
}

test("marks are drawn on the edges of what is in the picture, and nowhere else", async () => {
  const space = { width: 200, height: 100, rotation: 0 } as const;
  const elements = [
    element("e1", { x: 50, y: 40, width: 60, height: 30 }),
    element("e2", { x: 900, y: 900, width: 10, height: 10 }),
    element("e3", undefined),
    { ...element("e4", { x: 150, y: 80, width: 30, height: 10 }), interactive: false },
  ];
  const { size, isWhite } = await whites(await drawMarks(await frame(space), dump(space, elements)));
  expect(size).toEqual([200, 100]);
  expect(isWhite(50, 55)).toBe(false);
  expect(isWhite(80, 55)).toBe(true);
  expect(isWhite(180, 90)).toBe(true);
});

test("marks of a dump in other pixels than the picture, or turned, are drawn where the elements are in it", async () => {
  const screen = { width: 200, height: 100, rotation: 0 } as const;
  const elements = [element("e1", { x: 50, y: 40, width: 60, height: 30 })];
  const large = await frame({ width: 400, height: 200, rotation: 0 });
  const scaled = await whites(await drawMarks(large, dump(screen, elements)));
  expect(scaled.isWhite(50, 55)).toBe(true);
  expect(scaled.isWhite(100, 110)).toBe(false);

  const portrait = await frame({ width: 100, height: 200, rotation: 90 });
  const turned = await whites(await drawMarks(portrait, dump(screen, elements)));
  // Its left edge, 50 from the left and 40 to 70 from the top, is now its upper one.
  expect(turned.isWhite(45, 50)).toBe(false);
  expect(turned.isWhite(45, 80)).toBe(true);
});

test("marks of a dump of another shape are refused", async () => {
  const elements = [element("e1", { x: 50, y: 40, width: 60, height: 30 })];
  const other = await frame({ width: 100, height: 200, rotation: 0 });
  const drawn = drawMarks(other, dump({ width: 200, height: 100, rotation: 0 }, elements));
  await expect(drawn).rejects.toMatchObject({ code: "SPACE_MISMATCH" });
});

test.each([
  [1_920, 1_080],
  [1_280, 960],
  [1_080, 2_400],
  [3_000, 3_000],
  [1_200, 1_200],
  [40, 5_000],
])("a picture of %d by %d reaches every model as the model sees it, so that its coordinates are true", async (width, height) => {
  const { bytes, scale } = await scaleFrame(await picture(width, height));
  const shown = await sharp(bytes).metadata();
  for (const { id, pictures } of knownModels)
    expect(seenSize({ width: shown.width, height: shown.height }, pictures), id).toEqual({
      width: shown.width,
      height: shown.height,
    });
  expect(Math.abs(shown.width - width * scale)).toBeLessThanOrEqual(1);
  expect(Math.abs(shown.height - height * scale)).toBeLessThanOrEqual(1);
});

test("a picture is made smaller on its long side only when it is larger, and the scale is stated", async () => {
  const large = await scaleFrame(await picture(2560, 1000), 1280);
  expect(large.scale).toBe(0.5);
  expect(await sharp(large.bytes).metadata()).toMatchObject({ width: 1280, height: 500 });
  const small = await picture(640, 400);
  expect(await scaleFrame(small)).toEqual({ bytes: small, mimeType: "image/png", scale: 1 });
});

async function noise(width: number, height: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(width * height * 3);
  for (let at = 0, seed = 1; at < bytes.length; at++) {
    seed = (seed * 48_271) % 2_147_483_647;
    bytes[at] = seed % 251;
  }
  return sharp(bytes, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

test("a picture of a reply is the smaller of PNG and JPEG, and never more than 900 KB of base64", async () => {
  const flat = await scaleFrame(await picture(800, 600));
  expect(flat).toMatchObject({ mimeType: "image/png", scale: 1 });
  for (const size of [400, 1_280, 3_000]) {
    const { bytes, mimeType, scale } = await scaleFrame(await noise(size, size), 4_000);
    expect(Buffer.from(bytes).toString("base64").length).toBeLessThanOrEqual(900 * 1024);
    expect(mimeType).toBe("image/jpeg");
    const { width, format } = await sharp(bytes).metadata();
    expect([format, Math.abs(width - size * scale) <= 1]).toEqual(["jpeg", true]);
  }
});

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

test("a device with frames gives the latest one, and no one takes a picture", async () => {
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
