import type { Rect, Space } from "../shapes.ts";
import { columnsOf, lineOf, type ReadWord, type TextLine } from "../vision/textLines.ts";
import type { Item } from "./item.ts";
import { keyboardIn } from "./keyboard.ts";

/** Below this, what was read is more often a pattern of the background than a text. */
const leastConfidence = 0.4;
/** An icon next to a text is read as a few letters, less surely than a text. */
const iconBelow = 0.78;
const mostIconLetters = 3;
/** A title stands in this upper part of the picture. */
const titlePart = 0.15;
const mostSpellings = 500;

/** In the order of the lines, with the keys of a keyboard last. Texts in one line that a wide gap keeps apart are several items. */
export function itemsOf(lines: readonly TextLine[]): Item[] {
  const keys = keyboardIn(lines.flatMap(({ words }) => words));
  const texts = lines
    .flatMap((line) => columnsOf(line).map(withoutIcons))
    .filter(({ confidence, text }) => confidence >= leastConfidence && text.trim() !== "")
    .filter(({ text }) => keys.length === 0 || /\S{2}/.test(text))
    .map(({ text, confidence, rect }) => ({ text, confidence, rect }));
  return [...texts, ...keys];
}

/** Without what was read of icons before and behind a text; empty for an icon by itself. */
function withoutIcons({ words }: TextLine): TextLine {
  const isText = ({ text, confidence }: ReadWord) =>
    confidence >= iconBelow || [...text].length > mostIconLetters;
  const first = words.findIndex(isText);
  return lineOf(first < 0 ? [] : words.slice(first, words.findLastIndex(isText) + 1));
}

/**
 * How texts of an app are spelt, as the surest reading had it: a reader loses a space or a mark now and then, and a text that is
 * spelt in two ways would be two elements.
 */
export class Spellings {
  readonly #known = new Map<string, { text: string; confidence: number }>();

  /** `repaired` says which readings were replaced. */
  apply(items: readonly Item[]): { items: Item[]; repaired: string[] } {
    const repaired: string[] = [];
    const spelt = items.map((item) => {
      const key = lettersOf(item.text);
      const known = this.#known.get(key);
      if (key === "" || known === undefined || known.confidence < item.confidence) {
        this.#note(key, item);
        return item;
      }
      if (known.text !== item.text)
        repaired.push(`${JSON.stringify(known.text)} was read as ${JSON.stringify(item.text)}, less surely`);
      return { ...item, text: known.text };
    });
    return { items: spelt, repaired };
  }

  #note(key: string, { text, confidence }: Item): void {
    this.#known.delete(key);
    this.#known.set(key, { text, confidence });
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostSpellings && oldest !== undefined) this.#known.delete(oldest);
  }
}

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "");

const time = /^\d{1,2}[:.]\d\d(?:\s?[AaPp]\.?[Mm]\.?)?$/;
const mostWords = 6;

/** A clock or a sentence, which takes no focus. */
export const isPlain = ({ text, isPicture }: Item): boolean =>
  isPicture !== true && (time.test(text) || text.split(/\s+/).length > mostWords);

/** The title of a screen: its first text at the upper left that is not a time. Empty where there is none. */
export function titleOf(items: readonly Item[], { width, height }: Space): string {
  const isTitle = ({ text, rect }: Item) =>
    rect.y < titlePart * height && rect.x < width / 2 && !time.test(text) && text.length > 1;
  return items.find(isTitle)?.text ?? "";
}

/** Left edges that are this near, in pixels of a picture 1280 wide, are one column. */
const columnWithin = 10;

/**
 * The rects of items that stand in rows and columns, with the edges of their row and column: those of the letters differ by some
 * pixels, and would lead arrows astray.
 */
export function alignedRects(items: readonly Item[], { width }: Space): ReadonlyMap<Item, Rect> {
  const within = (columnWithin * width) / 1280;
  const columns = grouped(items, ({ rect }) => rect.x, within);
  const rows = grouped(items, ({ rect }) => rect.y + rect.height / 2, within);
  const aligned = new Map<Item, Rect>();
  for (const column of columns) {
    const x = Math.min(...column.map(({ rect }) => rect.x));
    const right = Math.max(...column.map(({ rect }) => rect.x + rect.width));
    for (const item of column) aligned.set(item, { ...item.rect, x, width: right - x });
  }
  for (const row of rows) {
    const y = Math.min(...row.map(({ rect }) => rect.y));
    const bottom = Math.max(...row.map(({ rect }) => rect.y + rect.height));
    for (const item of row) {
      const rect = aligned.get(item) ?? item.rect;
      aligned.set(item, { ...rect, y, height: bottom - y });
    }
  }
  return aligned;
}

function grouped(items: readonly Item[], edge: (item: Item) => number, within: number): Item[][] {
  const groups: Item[][] = [];
  for (const item of items.toSorted((a, b) => edge(a) - edge(b))) {
    const first = groups.at(-1)?.[0];
    if (first && edge(item) - edge(first) <= within) groups.at(-1)?.push(item);
    else groups.push([item]);
  }
  return groups;
}
