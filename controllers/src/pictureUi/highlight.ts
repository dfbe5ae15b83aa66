import type { Arrow } from "../focus/geometry.ts";
import type { Rect } from "../shapes.ts";
import { type Colour, colourBehind, colourBetween, grown } from "../vision/colours.ts";
import type { Pixels } from "../vision/seen.ts";
import type { Item } from "./item.ts";

/** An item with the colour behind its text. */
export type Painted = { item: Item; colour: Colour };

/** In the sum of three channels of 0 to 255. A highlight differs by more; a moving background by less. */
const changedBy = 60;
const alikeWithin = 45;
const mostKnown = 6;
const edgePixels = 3;

/** The colour behind each text, and inside the edge of each picture, in a picture of RGB. */
export const painted = (items: readonly Item[], picture: Pixels): Painted[] =>
  items.map((item) => {
    const { rect, isPicture } = item;
    const colour = isPicture
      ? colourBetween(grown(rect, -edgePixels), rect, picture)
      : colourBehind(rect, picture);
    return { item, colour };
  });

const distance = (one: Colour, other: Colour): number =>
  Math.abs(one[0] - other[0]) + Math.abs(one[1] - other[1]) + Math.abs(one[2] - other[2]);

/** A highlight, and the colour behind what it left. */
type Mark = { on: Colour; off: Colour };

/** How the screens of an app mark what has the focus, as far as keys have shown it. */
export class Highlight {
  /** The latest first. */
  #known: Mark[] = [];

  /**
   * Learns from what a single arrow changed. Texts are compared and not places, since in some menus the highlight stands still
   * and the list moves under it.
   */
  learn(before: readonly Painted[], after: readonly Painted[], arrow: Arrow): void {
    const marks = [
      movedMarks(before, after, arrow),
      handedOn(this.find(before), before, after),
      leftOrCame(before, after),
    ];
    const [mark, ...others] = marks.find(({ length }) => length > 0) ?? [];
    if (mark === undefined || others.length > 0) return;
    const rest = this.#known.filter(({ on }) => distance(on, mark.on) >= alikeWithin);
    this.#known = [mark, ...rest].slice(0, mostKnown);
  }

  /** The item that bears a known highlight; undefined where none does, or several do. */
  find(items: readonly Painted[]): Item | undefined {
    for (const { on, off } of this.#known) {
      const found = onlyOn(on, items);
      if (found && distance(found.colour, on) < distance(found.colour, off)) return found.item;
    }
    return undefined;
  }
}

/** A colour that was behind one text alone, and is behind another one alone. */
const movedMarks = (before: readonly Painted[], after: readonly Painted[], arrow: Arrow): Mark[] =>
  after.flatMap((gained) => {
    const on = gained.colour;
    const lost = onlyOn(on, before);
    if (onlyOn(on, after) !== gained || !lost || lost.item.text === gained.item.text) return [];
    const [was, is] = [sameText(gained, before), sameText(lost, after)];
    const off = was?.colour ?? is?.colour;
    // Without either in both pictures, one text was replaced by another one.
    if (off === undefined) return [];
    if ([was, is].some((one) => one && distance(one.colour, on) < changedBy)) return [];
    // Of two entries, each colour is behind one: the highlight went along the arrow.
    if (was && onlyOn(off, before) === was && !isAlong(lost.item.rect, was.item.rect, arrow)) return [];
    return [{ on, off }];
  });

/** What had the focus lost its colour, and one other text has another one now: some controls are marked by a colour of their own. */
function handedOn(focused: Item | undefined, before: readonly Painted[], after: readonly Painted[]): Mark[] {
  if (focused === undefined) return [];
  const changed = changedTexts(before, after);
  const gained = changed.filter(({ was }) => was.item !== focused);
  if (changed.length !== gained.length + 1) return [];
  return gained
    .filter(({ is }) => onlyOn(is.colour, after) === is)
    .map(({ was, is }) => ({ on: is.colour, off: was.colour }));
}

/** One text changed its colour, from a rare one to a frequent one or back: the focus came from what has no text, or went there. */
function leftOrCame(before: readonly Painted[], after: readonly Painted[]): Mark[] {
  const [only, ...others] = changedTexts(before, after);
  if (!only || others.length > 0) return [];
  const [was, is] = [only.was.colour, only.is.colour];
  const [wasCount, isCount] = [countOf(was, before), countOf(is, after)];
  if (2 * Math.min(wasCount, isCount) > Math.max(wasCount, isCount)) return [];
  return [wasCount < isCount ? { on: was, off: is } : { on: is, off: was }];
}

const countOf = (colour: Colour, all: readonly Painted[]): number =>
  all.filter((one) => distance(one.colour, colour) < alikeWithin).length;

const changedTexts = (before: readonly Painted[], after: readonly Painted[]) =>
  after.flatMap((is) => {
    const was = sameText(is, before);
    return was && distance(was.colour, is.colour) >= changedBy ? [{ was, is }] : [];
  });

/** The one item with this colour behind it. Of several texts of one thing, such as a number and a name, the first that has letters. */
function onlyOn(colour: Colour, all: readonly Painted[]): Painted | undefined {
  const found = all.filter((one) => distance(one.colour, colour) < alikeWithin);
  const first = found.find(({ item }) => /\p{L}{2}/u.test(item.text)) ?? found[0];
  return found.every(({ item }) => first && isBeside(item.rect, first.item.rect)) ? first : undefined;
}

function sameText({ item }: Painted, all: readonly Painted[]): Painted | undefined {
  const [found, ...others] = all.filter((one) => one.item.text === item.text);
  return others.length === 0 ? found : undefined;
}

/** In one row, or directly below each other. */
function isBeside(one: Rect, other: Rect): boolean {
  const height = Math.min(one.height, other.height);
  if (Math.abs(one.y + one.height / 2 - other.y - other.height / 2) < height / 2) return true;
  const gap = Math.max(one.y, other.y) - Math.min(one.y + one.height, other.y + other.height);
  const isOver = one.x < other.x + other.width && other.x < one.x + one.width;
  return isOver && gap < height;
}

function isAlong(from: Rect, to: Rect, arrow: Arrow): boolean {
  const [right, down] = [to.x - from.x, to.y - from.y];
  if (arrow === "UP") return down < 0;
  if (arrow === "DOWN") return down > 0;
  return arrow === "LEFT" ? right < 0 : right > 0;
}
