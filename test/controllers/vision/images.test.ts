import { describe, expect, it } from "vitest";
import { findImage } from "#controllers/vision/imageFinder.ts";
import { testAddons } from "../../fixtures/addons.ts";
import { type Gray, tilesOf, type Variant, variants } from "../../fixtures/uiPictures.ts";

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
