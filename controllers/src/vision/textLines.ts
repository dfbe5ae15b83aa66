import type { Rect } from "../shapes.ts";

/** `confidence` is 0..1; `rect` is in the space of the picture. */
export type ReadWord = { text: string; confidence: number; rect: Rect };

/** One line of text in a picture: its words from left to right. `confidence` is the mean of its words by their lengths. */
export type TextLine = ReadWord & { words: readonly ReadWord[] };

/** A gap wider than this many heights of the line parts two texts, such as the entries of a menu that lies across the screen. */
const gapHeights = 1.2;
/** Lines with less than this much between them, in heights, may be one paragraph. */
const leadingHeights = 0.9;
const mostLines = 6;

/** A line of these words, from left to right. */
export function lineOf(words: readonly ReadWord[]): TextLine {
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  const weighed = words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0);
  return {
    text: words.map(({ text }) => text).join(" "),
    confidence: Math.round((100 * weighed) / Math.max(1, letters)) / 100,
    rect: around(words),
    words,
  };
}

/** Several lines as one text. */
export const joined = (lines: readonly TextLine[]): TextLine => lineOf(lines.flatMap(({ words }) => words));

/** The smallest rect that has all of these in it; at least one is needed. */
function around(things: readonly { rect: Rect }[]): Rect {
  const x = Math.min(...things.map(({ rect }) => rect.x));
  const y = Math.min(...things.map(({ rect }) => rect.y));
  return {
    x,
    y,
    width: Math.max(...things.map(({ rect }) => rect.x + rect.width)) - x,
    height: Math.max(...things.map(({ rect }) => rect.y + rect.height)) - y,
  };
}

/** From top to bottom; lines at about the same height from left to right. */
export function inReadingOrder(lines: readonly TextLine[]): TextLine[] {
  const rows: TextLine[][] = [];
  for (const line of lines.toSorted((a, b) => middle(a) - middle(b))) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (row && first && middle(line) - middle(first) < Math.min(line.rect.height, first.rect.height) / 2)
      row.push(line);
    else rows.push([line]);
  }
  return rows.flatMap((row) => row.sort((a, b) => a.rect.x - b.rect.x));
}

/** The parts of a line that wide gaps keep apart; the line itself where there is none. */
export function columnsOf(line: TextLine): TextLine[] {
  const columns: ReadWord[][] = [];
  for (const word of line.words) {
    const last = columns.at(-1);
    const end = last?.at(-1)?.rect;
    if (last && end && word.rect.x - end.x - end.width < gapHeights * line.rect.height) last.push(word);
    else columns.push([word]);
  }
  return columns.length > 1 ? columns.map(lineOf) : [line];
}

/**
 * The texts that a check compares, the smallest first: columns of lines, lines, then up to six lines that stand below each
 * other like one paragraph. So a text that wraps is found, and one that is made of unrelated parts of a screen is not.
 */
export function textsOf(lines: readonly TextLine[]): TextLine[] {
  const columns = lines.flatMap(columnsOf);
  const lying = lines.filter((line) => columnsOf(line).length > 1);
  return [...columns, ...lying, ...columns.flatMap((column) => paragraphsFrom(column, columns))];
}

function paragraphsFrom(first: TextLine, lines: readonly TextLine[]): TextLine[] {
  const found: TextLine[] = [];
  let paragraph = [first];
  while (paragraph.length < mostLines) {
    const last = paragraph.at(-1) ?? first;
    const next = lines.find((line) => isBelow(line, last));
    if (!next) break;
    paragraph = [...paragraph, next];
    found.push(joined(paragraph));
  }
  return found;
}

/** Directly below, in letters of about the same size. */
function isBelow({ rect }: TextLine, { rect: upper }: TextLine): boolean {
  const gap = rect.y - upper.y - upper.height;
  const height = Math.max(rect.height, upper.height);
  const isClose = gap > -height / 2 && gap < leadingHeights * height && rect.y > upper.y;
  const overlap = Math.min(rect.x + rect.width, upper.x + upper.width) - Math.max(rect.x, upper.x);
  return isClose && overlap > 0 && Math.min(rect.height, upper.height) > height / 2;
}

/**
 * Of several readings of one picture, each in another language, the lines in which most is sure: where lines lie over each
 * other, the one that was read with the highest confidence.
 */
export function surest(readings: readonly (readonly TextLine[])[]): TextLine[] {
  const taken: TextLine[] = [];
  for (const line of readings.flat().toSorted((a, b) => b.confidence - a.confidence))
    if (!taken.some((one) => overlaps(one.rect, line.rect))) taken.push(line);
  return inReadingOrder(taken);
}

function overlaps(one: Rect, other: Rect): boolean {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  const smaller = Math.min(one.width * one.height, other.width * other.height);
  return width > 0 && height > 0 && width * height > smaller / 3;
}

const middle = ({ rect }: TextLine): number => rect.y + rect.height / 2;
