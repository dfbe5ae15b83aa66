import type { VideoFrame } from "../ports.ts";
import type { Rect } from "../shapes.ts";

/** Of 255: as dark as stb-tester's `is_screen_black` and blackdetect's `pix_th=0.08` take it. */
const darkBelow = 20;
/** Of 255, the mean over a tile: what codecs change in a picture that stands still remains below. */
const sameWithin = 2;
export const tileColumns = 16;
const rows = 9;
export const tileCount = tileColumns * rows;

/** As large as a capture's analysis branch, and more often than any source sends. */
export const everyFrame = { width: 320, height: 180, perSecond: 1_000, pixels: "gray" } as const;

/** One frame in numbers. Times are on the source's clock, in ms. */
export type Sample = {
  number: number;
  presentedMs: number;
  arrivedAt: number;
  /** The part of the area's pixels that is dark, 0 to 1. */
  dark: number;
  /** Mean difference from the frame before, in percent of full scale. */
  difference: number;
  /** Places of the tiles (16 by 9 of the area) that differ from the frame before. */
  changed: readonly number[];
  /** Places of the tiles that are not all dark. */
  lit: readonly number[];
  /** The picture is another one than before, as ffmpeg's scdet scores it. */
  isCut: boolean;
};

type Gray = Pick<VideoFrame, "bytes" | "space">;
type Tile = { total: number; pixels: number; lit: number };

/** Turns frames into samples, in their order; `area` is in parts of the picture (0 to 1). */
export class Sampler {
  readonly #area: Rect;
  #before: Gray | undefined;
  #last: Sample | undefined;

  constructor(area: Rect) {
    this.#area = area;
  }

  /** Takes a gray frame. The first one, and one of another size, has changed as a whole but is not a cut. */
  sample(frame: VideoFrame): Sample {
    const before = this.#before && isSameSize(this.#before, frame) ? this.#before : undefined;
    const tiles = tilesOf(frame, before, this.#area);
    this.#before = frame;
    const pixels = tiles.reduce((sum, tile) => sum + tile.pixels, 0);
    const lit = tiles.reduce((sum, tile) => sum + tile.lit, 0);
    const total = tiles.reduce((sum, tile) => sum + tile.total, 0);
    const difference = before ? (100 * total) / (255 * Math.max(1, pixels)) : 0;
    const changed = before
      ? placesOf(tiles, (tile) => tile.total > sameWithin * tile.pixels)
      : tiles.map((_, place) => place);
    const { number, presentedMs, arrivedAt } = frame;
    const sample: Sample = {
      ...{ number, presentedMs, arrivedAt, difference, changed },
      dark: 1 - lit / Math.max(1, pixels),
      lit: placesOf(tiles, (tile) => tile.lit > 0),
      isCut: false,
    };
    const last = this.#last;
    const rise = Math.abs(difference - (last?.difference ?? 0));
    sample.isCut = Math.min(difference, rise) >= leastCut && changed.length >= leastCutTiles;
    if (last && !last.isCut && !sample.isCut) last.isCut = isTorn(last, sample);
    this.#last = sample;
    return sample;
  }
}

/** ffmpeg's scdet takes 10 for the picture as a whole; a banner that lies over it lowers the score. */
const leastCut = 7;
const leastCutTiles = 0.6 * tileCount;
/** Of the smaller part: the parts of a torn picture lie next to each other, while what moves in a programme moves on. */
const mostOverlap = 0.3;

/** A screen that was grabbed while it was drawn: one part of the picture is new in the first sample, the rest in the second. */
function isTorn(first: Sample, second: Sample): boolean {
  const [one, other] = [new Set(first.changed), new Set(second.changed)];
  const both = [...one].filter((place) => other.has(place)).length;
  const isApart = both <= mostOverlap * Math.min(one.size, other.size);
  return (
    isApart &&
    one.size + other.size - both >= leastCutTiles &&
    first.difference + second.difference >= leastCut
  );
}

function tilesOf({ bytes, space }: Gray, before: Gray | undefined, area: Rect): Tile[] {
  const { width, height } = space;
  const [left, right] = [Math.floor(area.x * width), Math.ceil((area.x + area.width) * width)];
  const [top, bottom] = [Math.floor(area.y * height), Math.ceil((area.y + area.height) * height)];
  const tiles = Array.from({ length: tileCount }, () => ({ total: 0, pixels: 0, lit: 0 }));
  for (let y = top; y < bottom; y++) {
    const row = Math.floor(((y - top) * rows) / (bottom - top)) * tileColumns;
    for (let column = 0; column < tileColumns; column++) {
      const tile = tiles[row + column];
      const end = y * width + left + Math.floor(((column + 1) * (right - left)) / tileColumns);
      const start = y * width + left + Math.floor((column * (right - left)) / tileColumns);
      if (tile) addPixels(tile, bytes, before?.bytes ?? bytes, start, end);
    }
  }
  return tiles;
}

function addPixels(tile: Tile, now: Uint8Array, before: Uint8Array, start: number, end: number): void {
  let [total, lit] = [0, 0];
  for (let at = start; at < end; at++) {
    const level = now[at] ?? 0;
    total += Math.abs(level - (before[at] ?? 0));
    if (level >= darkBelow) lit++;
  }
  tile.total += total;
  tile.lit += lit;
  tile.pixels += end - start;
}

const placesOf = (tiles: readonly Tile[], is: (tile: Tile) => boolean): number[] =>
  tiles.flatMap((tile, place) => (is(tile) ? [place] : []));

const isSameSize = (one: Gray, other: Gray): boolean =>
  one.space.width === other.space.width && one.space.height === other.space.height;
