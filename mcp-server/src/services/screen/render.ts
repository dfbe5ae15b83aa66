import type { Element } from "@labwright/controllers";
import { describeElement, quote } from "./describe.ts";
import { estimateTokens } from "./tokens.ts";

/** `shown` elements are in the text and `more` are not; runs that were cut short say so where they were cut. */
export type Rendered = { text: string; shown: number; more: number };

/** Elements in one piece of text: a line, or several lines that repeat like the rows of a list. */
type Piece = {
  lines: string[];
  elements: number /** Rows of a list, or names on one line. */;
  alike: number;
};
/** Pieces alike, of which the last may be left out when room is short. */
type Group = { pieces: Piece[]; rowsAlike: boolean };

const longestRunName = 30;
const longestPeriod = 8;
const fewestRepeats = 4;
/** How many of many alike are shown, the first that fits. */
const keepSteps = [Number.POSITIVE_INFINITY, 40, 20, 10, 5, 3];

/**
 * Elements in reading order as a model reads them: a line each, three and more plain neighbours of one role on a line
 * together. When that is more than `maxTokens` (o200k, estimated), rows alike are cut short first, each time with a line
 * that says how many there are more like it, and then the end.
 */
export function renderElements(elements: readonly Element[], { maxTokens }: { maxTokens: number }): Rendered {
  const groups = group(elements);
  const tries = keepSteps.map(
    (keep) => () =>
      fill(
        groups.flatMap((one) => shorten(one, keep)),
        maxTokens,
      ),
  );
  let best = { text: "", shown: 0, fits: false };
  for (const attempt of tries) {
    best = attempt();
    if (best.fits) break;
  }
  return { text: best.text, shown: best.shown, more: elements.length - best.shown };
}

type Line = { text: string; elements: number };

function shorten({ pieces, rowsAlike }: Group, keep: number): Line[] {
  const shown = rowsAlike ? pieces.slice(0, keep) : pieces;
  const lines = shown.flatMap(({ lines, elements }) =>
    lines.map((text, at) => ({ text, elements: at === 0 ? elements : 0 })),
  );
  const left = pieces.slice(shown.length).reduce((sum, { alike }) => sum + alike, 0);
  return left > 0 ? [...lines, { text: `… ${left} more like this`, elements: 0 }] : lines;
}

function fill(lines: readonly Line[], maxTokens: number): { text: string; shown: number; fits: boolean } {
  const taken: string[] = [];
  let shown = 0;
  let left = maxTokens;
  for (const line of lines) {
    left -= estimateTokens(`${line.text}\n`);
    if (left < 0) return { text: taken.join("\n"), shown, fits: false };
    taken.push(line.text);
    shown += line.elements;
  }
  return { text: taken.join("\n"), shown, fits: true };
}

function group(elements: readonly Element[]): Group[] {
  const groups: Group[] = [];
  const signs = elements.map(({ role, depth }) => `${role} ${depth}`);
  for (let at = 0; at < elements.length; ) {
    const { period, repeats } = repetition(signs, at);
    const rows = Array.from({ length: repeats }, (_, row) =>
      elements.slice(at + row * period, at + (row + 1) * period),
    );
    groups.push(period === 1 ? runGroup(rows.flat()) : { pieces: rows.map(toPiece), rowsAlike: repeats > 1 });
    at += period * repeats;
  }
  return groups;
}

/** The shortest period that repeats often enough from `at` on; a single element where none does. */
function repetition(signs: readonly string[], at: number): { period: number; repeats: number } {
  for (let period = 1; period <= longestPeriod; period++) {
    let end = at + period;
    while (end < signs.length && signs[end] === signs[end - period]) end++;
    const repeats = Math.floor((end - at) / period);
    if (repeats >= (period === 1 ? 3 : fewestRepeats)) return { period, repeats };
  }
  return { period: 1, repeats: 1 };
}

function toPiece(elements: readonly Element[]): Piece {
  return { lines: elements.map(line), elements: elements.length, alike: 1 };
}

function line(element: Element): string {
  return `${" ".repeat(Math.min(element.depth, 6))}${describeElement(element)}`;
}

/** Neighbours of one role: those without more to say than a short name share lines of up to ten. */
function runGroup(elements: readonly Element[]): Group {
  const pieces: Piece[] = [];
  let run: Element[] = [];
  const flush = () => {
    pieces.push(...(run.length >= 3 ? chunks(run, 10).map(toRunLine) : run.map((one) => toPiece([one]))));
    run = [];
  };
  for (const element of elements) {
    if (isPlain(element)) run.push(element);
    else {
      flush();
      pieces.push(toPiece([element]));
    }
  }
  flush();
  return { pieces, rowsAlike: elements.length >= fewestRepeats };
}

function isPlain({ name, text, value, states, interactive }: Element): boolean {
  const saysMore = states.length > 0 || Boolean(value) || (Boolean(text) && text !== name);
  return interactive && name !== "" && name.length <= longestRunName && !saysMore;
}

function toRunLine(run: readonly Element[]): Piece {
  const [first] = run;
  const names = run.map(({ ref, name }) => `${ref} ${quote(name, longestRunName)}`);
  return {
    lines: [`${" ".repeat(Math.min(first?.depth ?? 0, 6))}${first?.role}: ${names.join(" ")}`],
    elements: run.length,
    alike: run.length,
  };
}

function chunks<T>(things: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(things.length / size) }, (_, at) =>
    things.slice(at * size, (at + 1) * size),
  );
}
