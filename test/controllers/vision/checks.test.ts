import { type ControllerContext, type Frame, imageFactory, type VideoFrame } from "@labwright/controllers";
import sharp from "sharp";
import { beforeAll, expect, it } from "vitest";
import { testAddons } from "../../fixtures/addons.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { draw, tileSize, tilesOf } from "../../fixtures/uiPictures.ts";
import { controllerContract } from "../contract.ts";

const never = new AbortController().signal;
const size = { width: 1920, height: 1080, rotation: 0 as const };
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

/** A device that shows the picture, with one reference of a screen of the size. */
function context(picture: Frame, space = size, addons = testAddons): ControllerContext {
  const base = controllerContext("lab/tv");
  const capture = async () => picture;
  return {
    ...base,
    addons,
    device: { ...base.device, screen: () => ({ capture }) },
    reference: async () => ({ picture: saved, area: cutOut, space }),
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
  const small = { ...size, width: 64, height: 36 };
  await expect(read(context(shown, small), "image_visible", {})).rejects.toMatchObject({
    code: "SPACE_MISMATCH",
  });
  const portrait = { ...size, width: 1080, height: 1920 };
  await expect(read(context(shown, portrait), "image_visible", {})).rejects.toMatchObject({
    code: "SPACE_MISMATCH",
  });
  const outside = { x: 3000, y: 0, width: 200, height: 200 };
  const tooSmall = { x: 0, y: 0, width: 20, height: 20 };
  for (const area of [outside, tooSmall])
    await expect(read(context(shown), "image_visible", { area })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
    });
});
