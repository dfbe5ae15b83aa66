import { expect, it } from "vitest";
import { differenceOf, type Pixels } from "#mcp-server/views/difference.ts";

/** A grey picture with squares of another brightness. */
function picture(width: number, height: number, marks: [x: number, y: number, by: number][] = []): Pixels {
  const data = new Uint8ClampedArray(width * height * 4).fill(100);
  for (const [x, y, by] of marks) data[(y * width + x) * 4 + 1] = 100 + by;
  return { width, height, data };
}

it("frames each place where two pictures differ, and takes no noise for one", () => {
  expect(differenceOf(picture(100, 40), picture(100, 40, [[5, 5, 40]]))).toEqual({ share: 0, boxes: [] });
  const changed = picture(100, 40, [
    ...([
      [3, 3, 60],
      [17, 18, 60],
    ] satisfies [number, number, number][]), // Squares that touch at a corner.
    [99, 39, -80],
  ]);
  expect(differenceOf(picture(100, 40), changed)).toEqual({
    share: 3 / 4_000,
    boxes: [
      { x: 0, y: 0, width: 32, height: 32 },
      { x: 96, y: 32, width: 4, height: 8 },
    ],
  });
  // The right edge of one row and the left edge of the next do not touch.
  const edges = picture(48, 48, [
    [47, 0, 90],
    [0, 20, 90],
  ]);
  expect(differenceOf(picture(48, 48), edges)?.boxes).toHaveLength(2);
  expect(differenceOf(picture(10, 10), picture(10, 11))).toBeUndefined();
});
