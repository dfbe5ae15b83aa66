import { DeviceError } from "./errors.ts";
import type { Rect, Space } from "./shapes.ts";

/**
 * The rect of one space in another one of the same screen: turned from the one's rotation to the other's, then scaled. It may
 * lie beyond the edges, as it did before. Throws SPACE_MISMATCH, with both spaces, when their shapes differ.
 */
export function rectIn(to: Space, rect: Rect, from: Space): Rect {
  const turned = turn(rect, from, to.rotation);
  if (!isSameShape(turned.space, to)) throw mismatch(from, to);
  const scaleX = to.width / turned.space.width;
  const scaleY = to.height / turned.space.height;
  const { x, y, width, height } = turned.rect;
  return {
    x: rounded(x * scaleX),
    y: rounded(y * scaleY),
    width: rounded(width * scaleX),
    height: rounded(height * scaleY),
  };
}

/** The part of the rect that lies in the space; undefined when none does. */
export function clipped(rect: Rect, space: Pick<Space, "width" | "height">): Rect | undefined {
  const x = Math.max(0, rect.x);
  const y = Math.max(0, rect.y);
  const width = Math.min(rect.x + rect.width, space.width) - x;
  const height = Math.min(rect.y + rect.height, space.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

type Placed = { rect: Rect; space: Space };

function turn(rect: Rect, space: Space, rotation: Space["rotation"]): Placed {
  const quarters = ((rotation - space.rotation + 360) % 360) / 90;
  let placed: Placed = { rect, space };
  for (let quarter = 0; quarter < quarters; quarter++) placed = turnedClockwise(placed);
  return placed;
}

/** The left edge becomes the upper one. */
function turnedClockwise({ rect, space }: Placed): Placed {
  const { x, y, width, height } = rect;
  return {
    rect: { x: space.height - y - height, y: x, width: height, height: width },
    space: { ...space, width: space.height, height: space.width },
  };
}

/** Also when a side of either was rounded by up to a pixel. */
function isSameShape(one: Space, other: Space): boolean {
  const difference = Math.abs(one.width * other.height - other.width * one.height);
  return difference <= Math.max(one.width, one.height, other.width, other.height);
}

/** Without it, the edge of a space would lie a hair beyond that of the other. */
const rounded = (pixels: number): number => Math.round(pixels * 1_000) / 1_000;

function mismatch(from: Space, to: Space): DeviceError {
  const [theirs, ours] = [from, to].map(
    ({ width, height, rotation }) => `${width} x ${height} pixels, turned by ${rotation}°`,
  );
  return new DeviceError(
    "SPACE_MISMATCH",
    `An area of a screen of ${theirs} has no place in one of ${ours}: their shapes differ. Turn the device as it was, or take the area again on this screen.`,
    { from, to },
  );
}
