import { clipped, DeviceError, rectIn, type Space } from "@labwright/controllers";
import { describe, expect, it } from "vitest";

const rect = { x: 10, y: 20, width: 30, height: 40 };
const landscape: Space = { width: 200, height: 100, rotation: 0 };

describe("A rect of one space in another", () => {
  it("stays as it is in its own space", () => {
    expect(rectIn(landscape, rect, landscape)).toEqual(rect);
  });

  it("is scaled, also beyond the edges", () => {
    const double: Space = { width: 400, height: 200, rotation: 0 };
    expect(rectIn(double, rect, landscape)).toEqual({ x: 20, y: 40, width: 60, height: 80 });
    expect(rectIn(landscape, { ...rect, y: -100 }, double)).toEqual({ x: 5, y: -50, width: 15, height: 20 });
  });

  it("is turned clockwise by the difference of the rotations, then scaled", () => {
    const portrait: Space = { width: 100, height: 200, rotation: 90 };
    expect(rectIn(portrait, rect, landscape)).toEqual({ x: 40, y: 10, width: 40, height: 30 });
    expect(rectIn(landscape, { x: 40, y: 10, width: 40, height: 30 }, portrait)).toEqual(rect);
    expect(rectIn({ ...landscape, rotation: 180 }, rect, landscape)).toEqual({ ...rect, x: 160, y: 40 });
    expect(rectIn({ width: 50, height: 100, rotation: 270 }, rect, landscape)).toEqual({
      x: 10,
      y: 80,
      width: 20,
      height: 15,
    });
  });

  it("reaches the edge exactly where it did before", () => {
    const odd: Space = { width: 1366, height: 768, rotation: 0 };
    const whole = { x: 0, y: 0, width: 1366, height: 768 };
    const small: Space = { width: 320, height: 180, rotation: 0 };
    expect(rectIn(small, whole, odd)).toEqual({ x: 0, y: 0, width: 320, height: 180 });
    expect(rectIn(odd, { x: 0, y: 0, width: 320, height: 180 }, small)).toEqual(whole);
  });

  it.each<[Space, Space]>([
    [landscape, { width: 100, height: 200, rotation: 0 }],
    [landscape, { width: 200, height: 100, rotation: 90 }],
    [
      { width: 1920, height: 1080, rotation: 0 },
      { width: 1920, height: 1082, rotation: 0 },
    ],
    [
      { width: 1280, height: 720, rotation: 0 },
      { width: 1024, height: 768, rotation: 0 },
    ],
  ])("of another shape is refused, with both spaces: %o, %o", (from, to) => {
    const convert = () => rectIn(to, rect, from);
    expect(convert).toThrow(DeviceError);
    expect(convert).toThrow(expect.objectContaining({ code: "SPACE_MISMATCH", details: { from, to } }));
  });

  it("of a shape that differs by rounding alone is not refused", () => {
    const to: Space = { width: 1920, height: 1081, rotation: 0 };
    expect(rectIn(to, rect, { width: 1280, height: 720, rotation: 0 }).x).toBe(15);
  });
});

describe("A clipped rect", () => {
  it("is the part inside, or none", () => {
    expect(clipped({ x: -10, y: 90, width: 30, height: 40 }, landscape)).toEqual({
      x: 0,
      y: 90,
      width: 20,
      height: 10,
    });
    expect(clipped({ x: 200, y: 0, width: 10, height: 10 }, landscape)).toBeUndefined();
    expect(clipped({ x: 0, y: -10, width: 10, height: 10 }, landscape)).toBeUndefined();
  });
});
