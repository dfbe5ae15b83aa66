import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ControllerContext,
  type Frame,
  imageFactory,
  type Rect,
  type Space,
  type VideoFrame,
} from "@labwright/controllers";
import sharp from "sharp";
import { beforeAll, expect, it } from "vitest";
import { testAddons } from "../../fixtures/addons.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { draw, tileSize, tilesOf } from "../../fixtures/uiPictures.ts";
import { writtenScreen } from "../../fixtures/writtenPictures.ts";
import { controllerContract } from "../contract.ts";

const never = new AbortController().signal;
const size: Space = { width: 1920, height: 1080, rotation: 0 };
const frameOf = (bytes: Uint8Array): Frame => ({
  ...{ ...size, mimeType: "image/png", bytes, takenAt: new Date().toISOString() },
});
let shown: Frame;
let without: Frame;
let saved: Frame;
const tile = tilesOf(1)[23] ?? { x: 0, y: 0 };
const cutOut = { x: tile.x, y: tile.y, ...tileSize };

beforeAll(async () => {
  const tiles = tilesOf(1);
  const png = await draw(tiles);
  shown = frameOf(png);
  without = frameOf(await draw(tiles.filter((one) => one !== tiles[23])));
  const part = await sharp(png)
    .extract({ left: tile.x, top: tile.y, ...tileSize })
    .png()
    .toBuffer();
  saved = { ...frameOf(part), ...tileSize };
});

type Saved = { picture: Frame; area?: Rect; space?: Space };
const savedOn = (space: Space): Saved => ({ picture: saved, area: cutOut, space });

/** A device that shows these pictures in turn, the last one from then on, with one reference. */
function context(shows: Frame | Frame[], reference = savedOn(size), addons = testAddons): ControllerContext {
  const base = controllerContext("lab/tv");
  const rest = [shows].flat();
  const capture = async () => (rest.length > 1 ? rest.shift() : rest[0]) as Frame;
  return {
    ...base,
    addons,
    device: { ...base.device, screen: () => ({ capture }) },
    reference: async () => reference,
  };
}

function read(of: ControllerContext, name: string, params: object, look = {}) {
  const [controller] = imageFactory.create({}, of);
  const check = controller?.checks.find((one) => one.name === name);
  if (!check) throw new Error(`There is no check ${name}.`);
  return check.read(check.input.parse({ reference: "tile", ...params }), never, look);
}

controllerContract("image", async () => {
  const [controller] = imageFactory.create({}, controllerContext("lab/tv"));
  if (!controller) throw new Error("The factory made no controller.");
  return { controller, factory: imageFactory, dispose: async () => {} };
});

it("says where a reference is, and shows the screen, the reference and the difference", async () => {
  const there = await read(context(shown), "image_visible", {});
  expect(there).toMatchObject({ holds: true, area: cutOut, score: 1 });
  expect(there.pictures?.map(({ width }) => width)).toEqual([1920, 120, 120]);
  expect(await read(context(shown), "image_hidden", {})).toMatchObject({ holds: false });
  expect(await read(context(without), "image_hidden", {})).toMatchObject({ holds: true });
  expect(await read(context(shown), "image_visible", { area: "saved", tolerance: 5 })).toMatchObject({
    holds: true,
  });
  const elsewhere = { x: 0, y: 600, width: 400, height: 300 };
  expect(await read(context(shown), "image_visible", { area: elsewhere })).toMatchObject({ holds: false });
  expect(await read(context(shown), "image_count", { count: 1 })).toMatchObject({ holds: true });
});

it("tells a place that stays the same from one that changed", async () => {
  expect(await read(context(shown), "area_unchanged", {})).toMatchObject({ holds: true, score: 1 });
  expect(await read(context(without), "area_unchanged", {})).toMatchObject({ holds: false, area: cutOut });
});

it("judges no picture that the device showed before the input, however late it arrived", async () => {
  const base = context(shown);
  const frames = () => ({ latest: async () => ({ ...shown, number: 1, arrivedAt: 1_000 }) }) as never;
  const stream = () => ({ delay: { ms: 500, errorMs: 50 } }) as never;
  const late = { ...base, device: { ...base.device, frames, stream } };
  expect(await read(late, "image_visible", {}, { since: 400 })).toMatchObject({ holds: true });
  for (const since of [480, 800])
    expect(await read(late, "image_visible", {}, { since })).toMatchObject({
      holds: false,
      inconclusive: "no frame has come since the last input",
    });
});

it("holds after a reference was shown and is gone, over the readings since the last input", async () => {
  const of = context(shown);
  const [controller] = imageFactory.create({}, of);
  const check = controller?.checks.find(({ name }) => name === "image_shown_then_gone");
  if (!check) throw new Error("There is no such check.");
  const input = check.input.parse({ reference: "tile" });
  const at = (picture: Frame, arrivedAt: number, since: number) => {
    // Gray frames as a capture gives them would do as well.
    const frame: VideoFrame = {
      ...{ number: 1, presentedMs: 0, arrivedAt, pixels: "jpeg" },
      bytes: picture.bytes,
      space: size,
    };
    return check.read(input, never, { since, frame });
  };
  expect(await at(without, 10, 5)).toMatchObject({ holds: false });
  expect(await at(shown, 20, 5)).toMatchObject({ holds: false });
  expect(await at(without, 30, 5)).toMatchObject({ holds: true });
  expect(await at(without, 40, 35)).toMatchObject({ holds: false });
  expect(await check.read(input, never)).toMatchObject({ inconclusive: expect.any(String) });
});

it("refuses what cannot be compared, with what to do", async () => {
  const portrait = { ...size, width: 1080, height: 1920 };
  const small = { ...frameOf(await draw([])), width: 100, height: 50 };
  for (const device of [context(shown, savedOn(portrait)), context(small, { picture: saved })])
    await expect(read(device, "image_visible", {})).rejects.toMatchObject({ code: "SPACE_MISMATCH" });
  const outside = { x: 3000, y: 0, width: 200, height: 200 };
  const tooSmall = { x: 0, y: 0, width: 20, height: 20 };
  for (const area of [outside, tooSmall])
    await expect(read(context(shown), "image_visible", { area })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
    });
  const empty = { x: 0, y: 0, width: 0, height: 20 };
  expect(() => read(context(shown), "image_visible", { area: empty })).toThrow(/"width"/);
});

it("finds a reference that was saved on a screen of another size", async () => {
  const picture = await sharp(saved.bytes)
    .resize(2 * tileSize.width, 2 * tileSize.height)
    .png()
    .toBuffer();
  const twice = (rect: Rect) => ({ x: 2 * rect.x, y: 2 * rect.y, width: 240, height: 120 });
  const reference = {
    picture: { ...saved, bytes: picture, width: 240, height: 120 },
    area: twice(cutOut),
    space: { ...size, width: 3840, height: 2160 },
  };
  expect(await read(context(shown, reference), "image_visible", { area: "saved" })).toMatchObject({
    holds: true,
    area: cutOut,
  });
});

it("sees a change that is too small and too faint for a reduced picture", async () => {
  const screen = (text: string) =>
    writtenScreen({
      ...{ width: 1920, height: 1080, background: "#445" },
      texts: [{ text, x: 60, y: 346, size: 14, fill: "#5a5a6a" }],
    });
  const [room, other] = [await screen("Room 204"), await screen("Room 209")];
  const area = { x: 56, y: 330, width: 80, height: 24 };
  const { x: left, y: top, width, height } = area;
  const bytes = await sharp(room.bytes).extract({ left, top, width, height }).png().toBuffer();
  const device = context([room, other], { picture: { ...room, bytes, width, height }, area, space: size });
  expect(await read(device, "image_visible", {})).toMatchObject({ holds: true });
  expect(await read(device, "image_visible", {})).toMatchObject({ holds: false });
});

it("compares pictures again after the thread was killed at its work", async () => {
  const folder = await mkdtemp(join(tmpdir(), "labwright-vision-"));
  const opencv = join(folder, "node_modules", "@techstark", "opencv-js");
  await mkdir(opencv, { recursive: true });
  // In a thread this ends the thread alone.
  await writeFile(join(opencv, "index.js"), "process.exit(1);");
  const deadly = { ...testAddons, folder: () => folder };
  await expect(read(context(shown, savedOn(size), deadly), "image_visible", {})).rejects.toMatchObject({
    code: "DEVICE_ERROR",
    message: expect.stringContaining("Try again"),
  });
  expect(await read(context(shown), "image_visible", {})).toMatchObject({ holds: true });
  await rm(folder, { recursive: true });
});

it("judges nothing by an add-on that does not work, and says how to mend it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "labwright-vision-"));
  const broken = { ...testAddons, folder: () => folder };
  for (const name of ["image_visible", "image_hidden"])
    expect(await read(context(shown, savedOn(size), broken), name, {})).toMatchObject({
      holds: false,
      inconclusive: expect.stringContaining("labwright setup vision"),
    });
  await rm(folder, { recursive: true });
});
