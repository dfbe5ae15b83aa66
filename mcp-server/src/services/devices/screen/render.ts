import type { Element } from "@labwright/controllers";
import { estimateTokens } from "../../values/tokens.ts";

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

/** Elements as a model reads them: a line each, short neighbours on one line. Above `maxTokens`, rows alike are cut first. */
export function renderElements(elements: readonly Element[], { maxTokens }: { maxTokens: number }): Rendered {
  const groups = group(withoutRepeats(elements));
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

/** Says how twins differ only where needed, and what rows have in common only once in a row. */
function withoutRepeats(elements: readonly Element[]): Element[] {
  const needed = signsNeeded(elements);
  let headers: string | undefined;
  return elements.map((element) => {
    const { apart, headers: own, ...rest } = element;
    const isNew = own !== undefined && own !== headers;
    if (own !== undefined) headers = own;
    return {
      ...rest,
      ...(apart !== undefined && needed.has(keyOf(element)) && { apart }),
      ...(isNew && { headers: own }),
    };
  });
}

const keyOf = ({ role, name }: Element) => `${role} ${name}`;

/** Twins need no sign where a line of its own stands right before each of them, as in the rows of a list. */
function signsNeeded(elements: readonly Element[]): Set<string> {
  const lastBefore = new Map<string, Element | undefined>();
  const needed = new Set<string>();
  let context: Element | undefined;
  for (const element of elements) {
    if (element.apart === undefined) {
      context = element;
      continue;
    }
    const key = keyOf(element);
    if (context && isSilentRow(context) && /^(button|link)$/.test(element.role)) needed.add(key);
    if (lastBefore.has(key) ? lastBefore.get(key) === context : context === undefined) needed.add(key);
    lastBefore.set(key, context);
  }
  return needed;
}

/** The place of a day in its week sets it apart from others; that of a button does not. */
const isSilentRow = (element: Element): boolean => element.role === "row" && wordsOf(element) === "";

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
    taken.push(oneLine(line.text));
    shown += line.elements;
  }
  return { text: taken.join("\n"), shown, fits: true };
}

/** One element, or one that only holds others, such as a row of a table, with all that is in it. */
type Unit = readonly Element[];

function group(elements: readonly Element[]): Group[] {
  const groups: Group[] = [];
  const units = unitsOf(elements);
  const signs = units.map(([first]) => `${first?.role} ${first?.depth}`);
  for (let at = 0; at < units.length; ) {
    const { period, repeats } = repetition(signs, at);
    const rows = Array.from({ length: repeats }, (_, row) =>
      units.slice(at + row * period, at + (row + 1) * period),
    );
    groups.push(
      period === 1 ? runGroup(rows.flat()) : { pieces: rows.map(toPieces), rowsAlike: repeats > 1 },
    );
    at += period * repeats;
  }
  return groups;
}

function unitsOf(elements: readonly Element[]): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < elements.length; ) {
    const unit = unitAt(elements, at);
    units.push(unit);
    at += unit.length;
  }
  return units;
}

function unitAt(elements: readonly Element[], at: number): Unit {
  const [first] = elements.slice(at, at + 1);
  if (!first || !/^(row|clickable|group)$/.test(first.role)) return elements.slice(at, at + 1);
  let end = at + 1;
  for (let one = elements[end]; one && one.depth > first.depth; one = elements[end]) end++;
  const unit = elements.slice(at, end);
  if (first.role === "group") return isRun(unit.slice(1)) ? unit : [first];
  return first.role === "row" || isShell(unit) ? unit : [first];
}

/** Says nothing but what is said by the things in it, one of which is pressed where it is pressed. */
function isShell([first, ...inner]: Unit): boolean {
  if (first === undefined || first.states.length > 0 || first.about !== undefined) return false;
  const direct = inner.filter(({ depth }) => depth === first.depth + 1);
  return direct.length > 1 && bare(wordsOf(first)) === bare(direct.map(wordsOf).join(""));
}

const wordsOf = ({ role, name, text = "" }: Element): string => (role === "row" ? text : name || text);
const bare = (words: string): string => words.replace(/[\s|]/g, "");

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

function toPieces(units: readonly Unit[]): Piece {
  const pieces = units.map(unitPiece);
  return {
    lines: pieces.flatMap(({ lines }) => lines),
    elements: pieces.reduce((sum, { elements }) => sum + elements, 0),
    alike: 1,
  };
}

function unitPiece(unit: Unit): Piece {
  const [first, ...cells] = unit;
  return first && cells.length > 0 ? rowPiece(first, cells) : toPiece(unit);
}

function toPiece(elements: readonly Element[]): Piece {
  return { lines: elements.map(line), elements: elements.length, alike: 1 };
}

function line(element: Element): string {
  return `${indent(element)}${describeElement(element)}`;
}

const indent = (element: Element | undefined) => " ".repeat(Math.min(element?.depth ?? 0, 6));

/** Neighbours of one role: those without more to say than a short name share lines of up to ten. */
function runGroup(units: readonly Unit[]): Group {
  const pieces: Piece[] = [];
  let run: Element[] = [];
  const flush = () => {
    pieces.push(...runPieces(run, 10));
    run = [];
  };
  for (const unit of units) {
    const [first] = unit;
    if (unit.length === 1 && first && isPlain(first)) run.push(first);
    else {
      flush();
      pieces.push(unitPiece(unit));
    }
  }
  flush();
  return { pieces, rowsAlike: units.length >= fewestRepeats };
}

function runPieces(run: readonly Element[], most: number, least = 3): Piece[] {
  return run.length >= least ? chunks(run, most).map(toRunLine) : run.map((one) => toPiece([one]));
}

/** What says no more than the things in it is the line of these. */
function rowPiece(row: Element, cells: readonly Element[]): Piece {
  const { text: _, ...unsaid } = row;
  const own = isShell([row, ...cells]) ? unsaid : row;
  const saysMore = Boolean(own.headers) || row.states.length > 0 || (own === row && wordsOf(row) !== "");
  const below = isRun(cells)
    ? runPieces(cells, 31, /^(button|link)$/.test(cells[0]?.role ?? "") ? 2 : 3).flatMap(({ lines }) => lines)
    : cells.map(line);
  return { lines: [...(saysMore ? [line(own)] : []), ...below], elements: cells.length + 1, alike: 1 };
}

const isRun = (cells: readonly Element[]): boolean =>
  cells.every((cell) => isBrief(cell) && cell.role === cells[0]?.role && cell.depth === cells[0]?.depth);

/** Has no more to say than a short name and states. */
function isBrief(element: Element): boolean {
  const { name, text, value, choices, about } = element;
  const saysMore =
    [choices, about].some((said) => said !== undefined && said.length > 0) ||
    Boolean(value) ||
    (name !== "" && Boolean(text) && text !== name);
  return wordsOf(element).length <= longestRunName && !saysMore;
}

function isPlain(element: Element): boolean {
  const { role, states, interactive } = element;
  const isNamed = wordsOf(element) !== "" && (interactive || role === "text");
  return isNamed && states.length === 0 && isBrief(element);
}

function toRunLine(run: readonly Element[]): Piece {
  const [first] = run;
  const names = run.map((element) => {
    const { ref, states, apart } = element;
    return [ref, quote(wordsOf(element), longestRunName), ...states, ...(apart ? [apart] : [])].join(" ");
  });
  return {
    lines: [`${indent(first)}${first?.role}: ${names.join(" ")}`],
    elements: run.length,
    alike: run.length,
  };
}

function chunks<T>(things: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(things.length / size) }, (_, at) =>
    things.slice(at * size, (at + 1) * size),
  );
}

const shownChoices = 5;

/**
 * An element in one line: `e12 button "Save" disabled`, `e5 textbox "Email" = "a@b.c" email focused`,
 * `e7 combobox "Size" = "S" (S | M | L)`, `e9 button "Delete" by "Ada"`.
 */
export function describeElement(element: Element): string {
  const { ref, role, value, states, headers, choices = [], moreChoices = 0, about = [], apart } = element;
  const parts = [ref, role];
  const { title, rest } = words(element);
  if (headers !== undefined && headers !== title) parts.push(`(${headers})`);
  if (title !== "") parts.push(quote(title, element.name === "" ? 200 : 100));
  parts.push(...about.filter((fact) => fact === guessed));
  if (value !== undefined && value !== "") parts.push("=", quote(value, 80));
  parts.push(...about.filter((fact) => fact !== guessed && !isError(fact)));
  parts.push(...states, ...about.filter(isError));
  if (apart !== undefined && apart !== "") parts.push(apart);
  if (choices.length > 0) parts.push(`(${choicesIn(choices, moreChoices)})`);
  if (rest !== "") parts.push(`: ${clip(rest, 200)}`);
  return parts.join(" ");
}

const guessed = "(label guessed)";
const isError = (fact: string) => fact.startsWith("error ");

function choicesIn(choices: readonly string[], moreChoices: number): string {
  const shown = choices.slice(0, shownChoices).map((choice) => clip(choice, 30));
  const more = choices.length - shown.length + moreChoices;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(" | ");
}

function words({ name, text = "" }: Element): { title: string; rest: string } {
  if (name === "") return { title: text, rest: "" };
  return { title: name, rest: text === name ? "" : text };
}

export function quote(text: string, length: number): string {
  return `"${oneLine(clip(text, length)).replaceAll('"', "'")}"`;
}

/** A text of several lines could pass for further elements. */
const oneLine = (text: string): string => text.replace(/\s*[\n\v\f\r\u0085\u2028\u2029]\s*/g, " ");

/** At most so many characters, and how many there are more; counts on where the text was cut before. */
function clip(text: string, length: number): string {
  const [, head = text, more = "0", open = ""] = /^([\s\S]*) … (\d+)(\+?) more$/.exec(text) ?? [];
  if (head.length <= length) return text;
  const kept = head.slice(0, length).trimEnd();
  return `${kept} … ${head.length - kept.length + Number(more)}${open} more`;
}
