import { expect, it } from "vitest";
import { Seen } from "#controllers/vision/seen.ts";
import { prepared } from "#controllers/vision/textPicture.ts";

it("prepares a high and narrow part, as an icon at the edge of a menu is", async () => {
  const [width, height] = [300, 400];
  const bytes = new Uint8Array(width * height).fill(20);
  const space = { width, height, rotation: 0 as const };
  const seen = new Seen({ number: 1, presentedMs: 0, arrivedAt: 0, pixels: "gray", bytes, space });
  const { pgm, layout } = await prepared(seen, { x: 10, y: 20, width: 12, height: 200 }, "line");
  expect(layout).toBe("line");
  expect(Buffer.from(pgm.subarray(0, 2)).toString()).toBe("P5");
});
