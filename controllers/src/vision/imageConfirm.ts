import type { Plane } from "./planes.ts";

/** The confirm threshold of stb-tester, of the full range of both pictures. */
const mostDifference = 0.3 * 255;
/** Of pictures without detail: noise and JPEG stay below. */
const mostFlatDifference = 24;
/** About a letter: a difference of thin strokes counts in it, and none in the whole picture. */
const tile = { size: 8, step: 2 };
/** A tile with less detail than this share of the whole range is noise. */
const leastDetail = 0.2;
/** Blur, JPEG and 2 % of size keep 0.7 in titles of 16 pixels; an e in place of an a leaves 0.55. */
const leastLikeness = 0.65;

type Levels = { values: Float64Array; width: number; height: number };
type Pair = { one: Levels; two: Levels; mask: Plane | undefined };

/**
 * Whether two pictures of the same size show the same: after both are stretched to the full range, no spot of more than a line
 * differs, and each tile with detail has the same detail, give or take a pixel. One other letter is found by this, and not by a score.
 */
export function isConfirmed(one: Plane, two: Plane, isFlat: boolean, mask?: Plane): boolean {
  if (isFlat) return !hasSpot({ one: raw(one), two: raw(two), mask }, mostFlatDifference);
  const pair = { one: stretched(one, mask), two: stretched(two, mask), mask };
  return !hasSpot(pair, mostDifference) && hasSameDetails(pair);
}

const raw = ({ bytes, width, height }: Plane): Levels => ({
  values: Float64Array.from(bytes),
  width,
  height,
});

function stretched({ bytes, width, height }: Plane, mask?: Plane): Levels {
  let [least, most] = [255, 0];
  for (let at = 0; at < bytes.length; at++) {
    if (mask && !mask.bytes[at]) continue;
    const value = bytes[at] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const by = 255 / Math.max(1, most - least);
  return { values: Float64Array.from(bytes, (value) => (value - least) * by), width, height };
}

/** A pixel that differs and whose four neighbours differ: what is left of an erosion by a cross. Beyond the edges, all differs. */
function hasSpot(pair: Pair, most: number): boolean {
  const { width, height } = pair.one;
  const differs = differing(pair, most);
  const is = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height || differs[y * width + x] === 1;
  const isSpot = (x: number, y: number) => is(x - 1, y) && is(x + 1, y) && is(x, y - 1) && is(x, y + 1);
  return differs.some((value, at) => value === 1 && isSpot(at % width, Math.floor(at / width)));
}

function differing({ one, two, mask }: Pair, most: number): Uint8Array {
  const differs = new Uint8Array(one.values.length);
  for (let at = 0; at < differs.length; at++) {
    const counts = mask?.bytes[at] !== 0;
    if (counts && Math.abs((one.values[at] ?? 0) - (two.values[at] ?? 0)) > most) differs[at] = 1;
  }
  return differs;
}

function hasSameDetails(pair: Pair): boolean {
  const { width, height } = pair.one;
  for (const y of starts(height)) for (const x of starts(width)) if (!isSameTile(pair, x, y)) return false;
  return true;
}

/** Of tiles that leave a pixel of room at each side. */
function starts(size: number): number[] {
  const last = size - 1 - Math.min(tile.size, size - 2);
  const all: number[] = [];
  for (let at = 1; at < last; at += tile.step) all.push(at);
  return last >= 1 ? [...all, last] : all;
}

function isSameTile(pair: Pair, x: number, y: number): boolean {
  const here = moments(pair, x, y, 0, 0);
  if (Math.max(here.deviation, here.otherDeviation) < leastDetail * 255) return true;
  if (likeness(here) >= leastLikeness) return true;
  for (let byY = -1; byY <= 1; byY++)
    for (let byX = -1; byX <= 1; byX++)
      if (likeness(moments(pair, x, y, byX, byY)) >= leastLikeness) return true;
  return false;
}

const likeness = ({ covariance, deviation, otherDeviation }: ReturnType<typeof moments>): number =>
  covariance / Math.max(1, deviation * otherDeviation);

/** Of a tile of the one and the tile of the other that lies so many pixels aside. */
function moments({ one, two, mask }: Pair, x: number, y: number, byX: number, byY: number) {
  const [right, bottom] = [Math.min(x + tile.size, one.width - 1), Math.min(y + tile.size, one.height - 1)];
  let [count, sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0, 0];
  for (let row = y; row < bottom; row++)
    for (let column = x; column < right; column++) {
      const at = row * one.width + column;
      if (mask && !mask.bytes[at]) continue;
      const a = one.values[at] ?? 0;
      const b = two.values[at + byY * one.width + byX] ?? 0;
      count++;
      sumA += a;
      sumB += b;
      squaresA += a * a;
      squaresB += b * b;
      products += a * b;
    }
  const of = Math.max(1, count);
  return {
    covariance: products / of - (sumA / of) * (sumB / of),
    deviation: Math.sqrt(Math.max(0, squaresA / of - (sumA / of) ** 2)),
    otherDeviation: Math.sqrt(Math.max(0, squaresB / of - (sumB / of) ** 2)),
  };
}
