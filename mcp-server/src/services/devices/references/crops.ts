import type { Frame, Rect } from "@labwright/controllers";
import type { Area, ReferenceDocument } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";

/** Loaded when a picture is first worked on: its libraries cost 30 MB. */
const loadSharp = async () => (await import("sharp")).default;

/** Of a picture that comes in a file: more would take gigabytes to unpack. */
const mostPixels = 50_000_000;

/** Whole pixels that hold the rect. Throws INVALID_INPUT, with the frame's size, for one that is not all in the frame. */
export function areaIn(frame: Pick<Frame, "width" | "height">, rect: Rect | undefined): Area {
  const { width, height } = frame;
  const { x, y, right, bottom } = rect
    ? {
        x: Math.floor(rect.x),
        y: Math.floor(rect.y),
        right: Math.ceil(rect.x + rect.width),
        bottom: Math.ceil(rect.y + rect.height),
      }
    : { x: 0, y: 0, right: 0, bottom: 0 };
  const isInside = x >= 0 && y >= 0 && right <= width && bottom <= height;
  if (isInside && right > x && bottom > y) return { x, y, width: right - x, height: bottom - y };
  throw new ToolError(
    "INVALID_INPUT",
    rect
      ? `The area ${right - x} x ${bottom - y} at ${x}, ${y} is empty or not all in the frame, which is ${width} x ${height} pixels.`
      : "The element has no place on the screen.",
    "Give an area inside the frame, or scroll until the element is seen as a whole.",
    { frame: { width, height } },
  );
}

export async function sizeOf(bytes: Uint8Array): Promise<{ width: number; height: number }> {
  const sharp = await loadSharp();
  const { width, height } = await sharp(bytes).metadata();
  return { width, height };
}

/** The area of the frame as PNG, with nothing in it that changes with time. */
export async function cropOf(frame: Frame, { x, y, width, height }: Area): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(frame.bytes).extract({ left: x, top: y, width, height }).png().toBuffer();
}

/** Throws INVALID_INPUT unless the bytes are a whole PNG. */
export async function checkPng(bytes: Uint8Array, { name, device_model }: ReferenceDocument): Promise<void> {
  const sharp = await loadSharp();
  const isWhole = await sharp(bytes, { limitInputPixels: mostPixels, failOn: "truncated" })
    .stats()
    .then(
      () => true,
      () => false,
    );
  if (isWhole) return;
  throw new ToolError(
    "INVALID_INPUT",
    `The reference "${name}" of ${device_model} has a png that is damaged or too large.`,
    "Nothing was imported. Export the userinterface again, or take that reference out.",
    { reference: name },
  );
}
