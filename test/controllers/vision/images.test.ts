import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { findImage } from "#controllers/vision/imageFinder.ts";
import { cut } from "#controllers/vision/planes.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { type Gray, gray, tilesOf, type Variant, variants } from "../../fixtures/uiPictures.ts";

const never = new AbortController().signal;
const scales = [1, 0.98, 1.02, 0.96, 1.04, 0.94, 1.06];
const withoutOpenCv = { ...testAddons, state: () => "missing" as const };
let pictures = 1_000_000;

async function verdictOn(addons: typeof testAddons, template: Gray, { name, picture, at }: Variant) {
  pictures++;
  const wanted = { template, score: 0.8, scales, most: 1 };
  const [match] = await findImage(addons, { id: pictures, picture, wanted }, { signal: never });
  if (!match?.isConfirmed || match.score < wanted.score) return at ? `${name}: missed` : `${name}: right`;
  const { x, y, width, height } = match;
  const isThere = at && Math.abs(x + width / 2 - at.x) < 4 && Math.abs(y + height / 2 - at.y) < 4;
  return isThere ? `${name}: right` : `${name}: found at ${x}, ${y}`;
}

async function grayOf(svg: string): Promise<Gray> {
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  const whole = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${svg}</svg>`;
  return gray(sharp(Buffer.from(whole)).flatten());
}

const lighterBy = (plane: Gray, by: number): Gray => ({
  ...plane,
  bytes: plane.bytes.map((value) => value + by),
});

async function findOne(addons: typeof testAddons, picture: Gray, of: { template: Gray; mask?: Gray }) {
  pictures++;
  const wanted = { ...of, score: 0.8, scales: [1], most: 1 };
  const [match] = await findImage(addons, { id: pictures, picture, wanted }, { signal: never });
  return match;
}

describe("a reference", () => {
  it("is found by OpenCV in all that keeps it the same, and not with one other letter", async () => {
    expect(testAddons.state("vision")).toBe("installed");
    for (const seed of [1, 3]) {
      const { template, all } = await variants(seed);
      expect(all).toHaveLength(14);
      for (const variant of all)
        expect(await verdictOn(testAddons, template, variant)).toBe(`${variant.name}: right`);
    }
  });

  it("gets the same verdicts without the add-on", async () => {
    const { template, all } = await variants(1);
    for (const variant of all.filter(({ name }) => /shifted|JPEG of quality 20|1\.02|letter/.test(name)))
      expect(await verdictOn(withoutOpenCv, template, variant)).toBe(`${variant.name}: right`);
  });

  it.each([
    ["OpenCV", testAddons],
    ["our own code", withoutOpenCv],
  ])("is found by %s where it is small, of one colour, or transparent at its edges", async (_, addons) => {
    const screen = await grayOf(`<rect width="640" height="360" fill="#333"/>
      <path d="M100 100h14v14h-14z" fill="#888"/><path d="M103 111l4-9 4 9z" fill="white"/>
      <rect x="300" y="200" width="60" height="40" fill="#b0b0b0"/>
      <path d="M480 60h80v80h-80z" fill="#757"/><circle cx="520" cy="100" r="30" fill="white"/><path d="M505 100h30v6h-30z"/>`);
    const small = cut(screen, { x: 100, y: 100, width: 14, height: 14 });
    expect(await findOne(addons, screen, { template: small })).toMatchObject({ x: 100, y: 100 });
    const flat = cut(screen, { x: 305, y: 205, width: 50, height: 30 });
    expect(await findOne(addons, screen, { template: flat })).toMatchObject({ isConfirmed: true });
    expect(await findOne(addons, screen, { template: lighterBy(flat, 40) })).not.toMatchObject({
      isConfirmed: true,
    });
    const disc = cut(screen, { x: 480, y: 60, width: 80, height: 80 });
    const mask = await grayOf('<rect width="80" height="80"/><circle cx="40" cy="40" r="29" fill="white"/>');
    const behind = { ...disc, bytes: disc.bytes.map((value, at) => (mask.bytes[at] ? value : 255)) };
    expect(await findOne(addons, screen, { template: behind, mask })).toMatchObject({
      ...{ x: 480, y: 60, isConfirmed: true },
    });
    expect(await findOne(addons, screen, { template: behind })).not.toMatchObject({ isConfirmed: true });
  });

  it("is counted as often as it is there", async () => {
    const { template, all } = await variants(1);
    const picture = all[0]?.picture;
    if (!picture) throw new Error("There is no picture.");
    const doubled = { ...picture, bytes: Uint8Array.from(picture.bytes) };
    const tile = tilesOf(1)[23];
    if (!tile) throw new Error("There is no tile.");
    for (let row = 0; row < template.height; row++)
      doubled.bytes.set(
        template.bytes.subarray(row * template.width, (row + 1) * template.width),
        (1_015 + row) * doubled.width + 1_700,
      );
    pictures++;
    const wanted = { template, score: 0.8, scales: [1], most: 10 };
    const found = await findImage(testAddons, { id: pictures, picture: doubled, wanted }, { signal: never });
    expect(found.map(({ x, y }) => ({ x, y }))).toEqual(
      expect.arrayContaining([
        { x: tile.x, y: tile.y },
        { x: 1_700, y: 1_015 },
      ]),
    );
    expect(found).toHaveLength(2);
  });
});
