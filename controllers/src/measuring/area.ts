import { z } from "zod";
import type { Rect, Space } from "../shapes.ts";

const part = z.number().min(0).max(1);

/** All of a picture, in parts of it. */
export const whole: Rect = { x: 0, y: 0, width: 1, height: 1 };

/** In parts of the picture, so that a test runs on captures of any size. */
export const areaSchema = z
  .strictObject({ x: part, y: part, width: part.positive(), height: part.positive() })
  .refine(({ x, y, width, height }) => x + width <= 1 && y + height <= 1, {
    error: "The area lies beyond the picture: x + width and y + height are at most 1.",
  });

/** The whole pixels of an area that is given in parts. */
export const inPixels = (area: Rect, { width, height }: Space): Rect => ({
  x: Math.round(area.x * width),
  y: Math.round(area.y * height),
  width: Math.floor(area.width * width),
  height: Math.floor(area.height * height),
});
