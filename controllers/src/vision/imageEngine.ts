import { halved, type Plane } from "./planes.ts";

/** A score for each place of the upper left corner, row by row: 1 is equal. */
export type Scores = { values: Float32Array; width: number; height: number };

/**
 * `correlation` ignores brightness and contrast, from -1 to 1. `difference` is for pictures without detail: 1 less four times the
 * root of the mean square difference, which is a share of white.
 */
export type Method = "correlation" | "difference";

/** Compares pictures. Pixels of the template where the mask is 0 do not count. */
export type Engine = {
  halved(plane: Plane): Plane;
  scores(image: Plane, template: Plane, method: Method, mask?: Plane): Scores;
};

/** From the mean square difference of pixels to a score. */
export const likeByDifference = (meanSquare: number): number =>
  Math.max(-1, 1 - (4 * Math.sqrt(Math.max(0, meanSquare))) / 255);

/** Below this standard deviation, what is compared has no detail and no correlation. */
const leastSpread = 0.5;

/** What is known of the template: `at` are the places of the pixels that count, `of` their deviations from the mean. */
type Known = { at: Int32Array; of: Float64Array; values: Float64Array; norm: number };

/** Needs nothing but this file. */
export const plainEngine: Engine = {
  halved,
  scores(image, template, method, mask) {
    const [width, height] = [image.width - template.width + 1, image.height - template.height + 1];
    const values = new Float32Array(width * height);
    const known = knownOf(template, image.width, mask);
    const score = method === "correlation" ? correlationAt : differenceAt;
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) values[y * width + x] = score(image.bytes, y * image.width + x, known);
    return { values, width, height };
  },
};

function knownOf(template: Plane, across: number, mask?: Plane): Known {
  const at: number[] = [];
  const values: number[] = [];
  for (let y = 0; y < template.height; y++)
    for (let x = 0; x < template.width; x++) {
      const from = y * template.width + x;
      if (mask && !mask.bytes[from]) continue;
      at.push(y * across + x);
      values.push(template.bytes[from] ?? 0);
    }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const of = Float64Array.from(values, (value) => value - mean);
  const norm = Math.sqrt(of.reduce((sum, value) => sum + value * value, 0));
  return { at: Int32Array.from(at), of, values: Float64Array.from(values), norm };
}

function correlationAt(bytes: Uint8Array, from: number, { at, of, norm }: Known): number {
  let [dot, sum, squares] = [0, 0, 0];
  const count = at.length;
  for (let index = 0; index < count; index++) {
    const value = bytes[from + (at[index] ?? 0)] ?? 0;
    dot += value * (of[index] ?? 0);
    sum += value;
    squares += value * value;
  }
  const deviation = Math.sqrt(Math.max(0, squares - (sum * sum) / count));
  return deviation < leastSpread * Math.sqrt(count) || norm === 0 ? 0 : dot / (deviation * norm);
}

function differenceAt(bytes: Uint8Array, from: number, { at, values }: Known): number {
  let total = 0;
  const count = at.length;
  for (let index = 0; index < count; index++) {
    const difference = (bytes[from + (at[index] ?? 0)] ?? 0) - (values[index] ?? 0);
    total += difference * difference;
  }
  return likeByDifference(total / count);
}
