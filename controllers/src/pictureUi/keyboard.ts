import type { ReadWord } from "../vision/textLines.ts";
import type { Item } from "./item.ts";

/** Keyboards of TVs, row by row, each key below another one. Some lack the row of digits. */
const layouts: readonly (readonly string[])[] = [
  ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"],
  ["1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm"],
  ["1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn"],
  ["abcdef", "ghijkl", "mnopqr", "stuvwx", "yz1234", "567890"],
  ["abcdefg", "hijklmn", "opqrstu", "vwxyz"],
  ["abcdefghijklm", "nopqrstuvwxyz"],
];

/** Letters that must stand where a layout has them, and the share of all single letters that they are. */
const leastKeys = 6;
const leastShare = 0.5;
/** How far off a letter may stand, as a share of the step from key to key. */
const within = 0.25;

type Key = { text: string; x: number; y: number; height: number };
type Cell = { row: number; column: number };
/** The place of the first key, and the steps to the next one to the right and below. */
type Grid = { x: number; y: number; right: number; down: number };
type Fit = { layout: readonly string[]; grid: Grid; rows: readonly number[]; height: number };

/**
 * The keys of a keyboard on the screen. A reader misses many of the single letters: a layout that some of them fit says where
 * the others are. Empty where none fits.
 */
export function keyboardIn(words: readonly ReadWord[]): Item[] {
  const letters = words
    .filter(({ text }) => /^[a-z0-9]$/i.test(text))
    .map(({ text, rect: { x, y, width, height } }) => {
      return { text: text.toLowerCase(), x: x + width / 2, y: y + height / 2, height };
    });
  const isCapital = words.filter(({ text }) => /^[A-Z]$/.test(text)).length > letters.length / 2;
  const fits = layouts.flatMap((layout) => fitOf(letters, layout) ?? []);
  const [best] = fits.toSorted((a, b) => b.rows.length - a.rows.length);
  return best ? keysOf(best, isCapital) : [];
}

function keysOf({ layout, grid, rows, height }: Fit, isCapital: boolean): Item[] {
  const [first, last] = [Math.min(...rows), Math.max(...rows)];
  return layout.slice(first, last + 1).flatMap((keys, at) =>
    [...keys].map((key, column) => {
      const [x, y] = [grid.x + column * grid.right, grid.y + (first + at) * grid.down];
      const rect = { x: x - height / 2, y: y - height / 2, width: height, height };
      return { text: isCapital ? key.toUpperCase() : key, confidence: 0.9, rect };
    }),
  );
}

/** The grid that most letters fit; `rows` has the row of each of them. */
function fitOf(letters: readonly Key[], layout: readonly string[]): Fit | undefined {
  let best: Fit | undefined;
  for (const grid of gridsOf(letters, layout)) {
    const fitting = letters.filter((letter) => isAt(letter, grid, layout));
    if (fitting.length <= (best?.rows.length ?? 0)) continue;
    const heights = fitting.map(({ height }) => height).toSorted((a, b) => a - b);
    const rows = fitting.flatMap(({ text }) => cellOf(text, layout)?.row ?? []);
    best = { layout, grid, rows, height: heights[Math.floor(heights.length / 2)] ?? 0 };
  }
  const enough = Math.max(leastKeys, leastShare * letters.length);
  return best && best.rows.length >= enough ? best : undefined;
}

/** What each two letters of a row say of the steps to the right, with each letter of another row for the steps down. */
function gridsOf(letters: readonly Key[], layout: readonly string[]): Grid[] {
  const placed = letters.flatMap((key) => {
    const cell = cellOf(key.text, layout);
    return cell ? [{ ...key, ...cell }] : [];
  });
  return placed.flatMap((one) => {
    const rights = placed
      .filter(({ row, column }) => row === one.row && column > one.column)
      .map(({ x, column }) => (x - one.x) / (column - one.column));
    const downs = placed
      .filter(({ row }) => row > one.row)
      .map(({ y, row }) => (y - one.y) / (row - one.row));
    return rights.flatMap((right) =>
      downs
        .filter((down) => right > one.height && down > one.height && down <= 2 * right)
        .map((down) => ({ x: one.x - one.column * right, y: one.y - one.row * down, right, down })),
    );
  });
}

function isAt({ text, x, y }: Key, grid: Grid, layout: readonly string[]): boolean {
  const cell = cellOf(text, layout);
  if (!cell) return false;
  const [across, down] = [x - grid.x - cell.column * grid.right, y - grid.y - cell.row * grid.down];
  return Math.abs(across) <= within * grid.right && Math.abs(down) <= within * grid.down;
}

function cellOf(key: string, layout: readonly string[]): Cell | undefined {
  const row = layout.findIndex((keys) => keys.includes(key));
  return row < 0 ? undefined : { row, column: layout[row]?.indexOf(key) ?? 0 };
}
