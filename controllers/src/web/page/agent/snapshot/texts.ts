/** Compares the texts of a page with those of the previous snapshot. */

import type { SeenElement, SeenPage } from "../answers.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import * as passing from "./passing.ts";

/** A text node of a block, or the name of a link in it. */
type Part = { text: string; node?: Node; parent: Element };

/** `isListed`: the snapshot lists the block's words. `after`: the last element listed before it. */
export type TextBlock = {
  element: Element;
  parts: Part[];
  isListed: boolean;
  after: SeenElement | undefined;
};

/** Collects the words of a block. */
export type TextPlace = {
  element: Element;
  texts?: TextBlock;
  /** Something separates the texts so far from the next. */
  isParted?: boolean;
};

export type ChangedText = { element: Element; text: string; was: string };

export type TextChanges = Omit<SeenPage["texts"], "changed"> & { changed: ChangedText[] };

type Shown = { block: TextBlock; text: string };
/** The text of each block, and all texts. */
type PageTexts = { of: WeakMap<Element, string>; texts: readonly string[] };

/** A reply has room for fewer. */
const most = 12;
const longestStep = 40;
const back =
  /^\W*(prev|previous|back|earlier|older|left|minus|remove|decrease|decrement|less|down)\b|(left|prev|previous|minus)$|^[-–−‹«<◀◄←]+$/i;
const on =
  /^\W*(next|forward|later|newer|right|plus|add|increase|increment|more|up)\b|(right|next|plus)$|^[+›»>▶►→]+$/i;
let blocks: TextBlock[] = [];
let lastSnapshot: PageTexts | undefined;

export function begin(): void {
  blocks = [];
}

export function note(part: Part, place: TextPlace, listed: Pick<TextBlock, "isListed" | "after">): void {
  if (!/\S/.test(part.text)) {
    place.isParted = true;
    return;
  }
  if (!place.texts) {
    place.texts = { element: place.element, parts: [], ...listed };
    blocks.push(place.texts);
  }
  place.texts.parts.push(place.isParted ? { ...part, text: ` ${part.text}` } : part);
  place.isParted = false;
}

/** Adds the text between a "previous" and a "next" button, such as the month of a calendar. */
export function withSteps(
  seen: readonly SeenElement[],
  rowFor: (text: { element: Element; text: string }, depth: number) => SeenElement,
): SeenElement[] {
  const out = [...seen];
  for (const block of blocks) {
    const { after } = block;
    if (!after || block.isListed || !isStep(after, back)) continue;
    const at = out.indexOf(after) + 1;
    const next = out[at];
    const [text] = next && isStep(next, on) ? legible([block]).found : [];
    if (!text || text.text.length > longestStep) continue;
    // A table or a group has it as its caption.
    if (out.some(({ name }) => name === text.text)) continue;
    block.isListed = true;
    out.splice(at, 0, rowFor(text, after.depth));
  }
  return out;
}

function isStep({ role, name }: SeenElement, words: RegExp): boolean {
  return /^(button|link|clickable)$/.test(role) && words.test(name);
}

/** The first texts of the page. */
export function first(): { element: Element; text: string }[] {
  return legible(blocks).found;
}

/**
 * To be called once, after the walk. `names`: texts that the snapshot lists. If the walk did not reach the end of the page, nothing
 * is compared, now or in the next snapshot.
 */
export function changes(names: readonly string[], isWhole: boolean): TextChanges {
  const before = lastSnapshot;
  const shown = shownTexts();
  const now = { of: new WeakMap<Element, string>(), texts: shown.map(({ text }) => text) };
  for (const { block, text } of shown) now.of.set(block.element, text);
  lastSnapshot = isWhole ? now : undefined;
  const known = [...names, ...now.texts, ...(before?.texts ?? [])];
  const isKnown = (text: string) => known.some((one) => one.includes(text));
  const passed = passing.take((texts) => texts.every(isKnown));
  passing.watch();
  const compares = before !== undefined && isWhole;
  return { ...(compares ? compared(before, shown) : { changed: [], more: 0, gone: [] }), passed };
}

function compared(before: PageTexts, shown: readonly Shown[]): Omit<TextChanges, "passed"> {
  const isOther = ({ block, text }: Shown) => before.of.get(block.element) !== text;
  const others = shown.filter(isOther);
  if (others.length === 0 && shown.length === before.texts.length) return { changed: [], more: 0, gone: [] };
  const left = leftOf(before, shown);
  const fresh = others.filter(({ text }) => !takeOne(left, text));
  const { found, more } = legible(fresh.flatMap(({ block }) => (block.isListed ? [] : [block])));
  const changed = found.map((one) => ({ ...one, was: before.of.get(one.element) ?? "" }));
  const replaced = new Set(fresh.map(({ block }) => before.of.get(block.element)));
  const gone = [...left].flatMap(([text, count]) => (count > 0 && !replaced.has(text) ? [text] : []));
  return { changed, more, gone: gone.slice(0, most).map((text) => dom.cut(text, 100)) };
}

function shownTexts(): Shown[] {
  return blocks.flatMap((block) => {
    const text = isShown(block) ? readParts(block.parts) : "";
    return text === "" ? [] : [{ block, text }];
  });
}

/** A quick check for every block; blocks that have changed are then read exactly. */
function isShown({ parts }: TextBlock): boolean {
  const own = parts.find(({ node }) => node);
  if (!own || isFolded(own.parent)) return false;
  return native.checkVisibility(own.parent, { visibilityProperty: true, opacityProperty: true });
}

/** In a box without height that hides its overflow. */
function isFolded(element: Element): boolean {
  const known = dom.known(element);
  if (known.folded !== undefined) return known.folded;
  const isFold =
    native.clientHeight(element) === 0 &&
    dom.style(element).overflowY !== "visible" &&
    dom.box(element).height === 0;
  const parent = isFold ? undefined : dom.parent(element);
  known.folded = isFold || (parent !== undefined && isFolded(parent));
  return known.folded;
}

function readParts(parts: readonly Part[]): string {
  const [only] = parts;
  return dom.clean(only && parts.length === 1 ? only.text : parts.map(({ text }) => text).join(""));
}

/** Counts of previous texts whose elements no longer have them; a new element may. */
function leftOf(before: PageTexts, shown: readonly Shown[]): Map<string, number> {
  const left = new Map<string, number>();
  for (const text of before.texts) left.set(text, (left.get(text) ?? 0) + 1);
  for (const { block, text } of shown) if (before.of.get(block.element) === text) takeOne(left, text);
  return left;
}

function takeOne(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  if (count > 0) counts.set(text, count - 1);
  return count > 0;
}

/** Blocks that can be read, without their hidden parts. */
function legible(shown: readonly TextBlock[]): { found: { element: Element; text: string }[]; more: number } {
  const found: { element: Element; text: string }[] = [];
  let read = 0;
  for (const block of shown) {
    if (found.length === most) break;
    read++;
    const parts = block.parts.filter(
      ({ node, parent }) => !node || (sight.rendered(parent) && sight.legible(parent, [node])),
    );
    const text = parts.some(({ node }) => node) ? readParts(parts) : "";
    if (text !== "") found.push({ element: block.element, text: dom.cut(text, 200) });
  }
  return { found, more: shown.length - read };
}
