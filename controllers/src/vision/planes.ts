import type { Rect } from "../shapes.ts";

/** Gray pixels, row by row. */
export type Plane = { bytes: Uint8Array; width: number; height: number };

/** The part that a rect of whole pixels in it covers. `channels` are its bytes a pixel. */
export function cut({ bytes, width: across }: Plane, { x, y, width, height }: Rect, channels = 1): Plane {
  const part = new Uint8Array(channels * width * height);
  for (let row = 0; row < height; row++) {
    const from = channels * ((y + row) * across + x);
    part.set(bytes.subarray(from, from + channels * width), channels * row * width);
  }
  return { bytes: part, width, height };
}

/** Without its outermost pixels: a border that was blurred together with other surroundings compares badly. */
export const withoutBorder = (plane: Plane): Plane =>
  cut(plane, { x: 1, y: 1, width: plane.width - 2, height: plane.height - 2 });

/** Half its size, smoothed by the binomial kernel 1 4 6 4 1 in both directions, mirrored at the edges. */
export function halved(plane: Plane): Plane {
  return turnedHalf(turnedHalf(plane));
}

/** Half its width, and turned, so that twice is both directions. */
function turnedHalf({ bytes, width, height }: Plane): Plane {
  const half = (width + 1) >> 1;
  const out = new Uint8Array(half * height);
  const at = (row: number, x: number) => bytes[row + mirrored(x, width)] ?? 0;
  for (let y = 0; y < height; y++) {
    const row = y * width;
    for (let x = 0; x < half; x++) {
      const middle = 2 * x;
      const isInside = middle >= 2 && middle + 2 < width;
      const from = row + middle;
      const sum = isInside
        ? (bytes[from - 2] ?? 0) +
          (bytes[from + 2] ?? 0) +
          4 * ((bytes[from - 1] ?? 0) + (bytes[from + 1] ?? 0)) +
          6 * (bytes[from] ?? 0)
        : at(row, middle - 2) +
          at(row, middle + 2) +
          4 * (at(row, middle - 1) + at(row, middle + 1)) +
          6 * at(row, middle);
      out[x * height + y] = (sum + 8) >> 4;
    }
  }
  return { bytes: out, width: height, height: half };
}

function mirrored(x: number, size: number): number {
  if (size === 1) return 0;
  const folded = Math.abs(x) % (2 * size - 2);
  return folded < size ? folded : 2 * size - 2 - folded;
}

/** Another size, by linear interpolation. */
export function resized({ bytes, width, height }: Plane, scale: number): Plane {
  const [across, down] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const out = new Uint8Array(across * down);
  for (let y = 0; y < down; y++) {
    const fromY = between(0, ((y + 0.5) * height) / down - 0.5, height - 1);
    const [top, partY] = [Math.floor(fromY), fromY % 1];
    const below = Math.min(top + 1, height - 1);
    for (let x = 0; x < across; x++) {
      const fromX = between(0, ((x + 0.5) * width) / across - 0.5, width - 1);
      const [left, partX] = [Math.floor(fromX), fromX % 1];
      const right = Math.min(left + 1, width - 1);
      const mix = (row: number) =>
        (bytes[row * width + left] ?? 0) * (1 - partX) + (bytes[row * width + right] ?? 0) * partX;
      out[y * across + x] = Math.round(mix(top) * (1 - partY) + mix(below) * partY);
    }
  }
  return { bytes: out, width: across, height: down };
}

const between = (least: number, value: number, most: number) => Math.min(Math.max(value, least), most);

/** The standard deviation of the pixels where the mask, if there is one, is not 0. */
export function spread({ bytes }: Plane, mask?: Plane): number {
  let [count, sum, squares] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    if (mask && !mask.bytes[at]) continue;
    const value = bytes[at] ?? 0;
    count++;
    sum += value;
    squares += value * value;
  }
  return count === 0 ? 0 : Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
}
