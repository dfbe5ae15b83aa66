import type { Element } from "@labwright/controllers";
import { estimateTokens } from "../../values/tokens.ts";
import { describeElement, quote } from "./describe.ts";
import { renderElements } from "./render.ts";

export type Change = { before: Element; after: Element };
/**
 * `gone` leaves out what was only drawn anew under another ref: that has `appeared`. `reordered` are those that stayed but
 * stand in another order, with what stands between them, in their order now.
 */
export type ElementDiff = { appeared: Element[]; gone: Element[]; changed: Change[]; reordered: Element[] };

/** What became of a screen between two looks at it, by ref; a place on the screen does not count, an order does. */
export function diffElements(before: readonly Element[], after: readonly Element[]): ElementDiff {
  const old = new Map(before.map((element) => [element.ref, element]));
  const appeared: Element[] = [];
  const changed: Change[] = [];
  for (const element of after) {
    const known = old.get(element.ref);
    if (!known) appeared.push(element);
    else if (essence(known) !== essence(element)) changed.push({ before: known, after: element });
  }
  const kept = new Set(after.map(({ ref }) => ref));
  const renewed = count(appeared.map(essence));
  const gone = before.filter((element) => !kept.has(element.ref) && !takeOne(renewed, essence(element)));
  return { appeared, gone, changed, reordered: reorderedIn(before, after) };
}

/** Nothing of what was there is there now. */
export function isAllNew(before: readonly Element[], after: readonly Element[]): boolean {
  const old = new Set(before.map(({ ref }) => ref));
  return after.length > 0 && !after.some(({ ref }) => old.has(ref));
}

function reorderedIn(before: readonly Element[], after: readonly Element[]): Element[] {
  const refs = (elements: readonly Element[]) => new Set(elements.map(({ ref }) => ref));
  const [old, now] = [refs(before), refs(after)];
  const were = before.filter(({ ref }) => now.has(ref));
  const are = after.filter(({ ref }) => old.has(ref));
  const moved = are.flatMap(({ ref }, at) => (were[at]?.ref === ref ? [] : [at]));
  return are.slice(moved[0] ?? 0, (moved.at(-1) ?? -1) + 1);
}

function essence({ role, name, text, value, choices, about, states }: Element): string {
  return JSON.stringify([
    role,
    name,
    text,
    value,
    choices,
    about,
    states.filter((state) => state !== "focused"),
  ]);
}

function count(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function takeOne(counts: Map<string, number>, key: string): boolean {
  const left = counts.get(key) ?? 0;
  if (left > 0) counts.set(key, left - 1);
  return left > 0;
}

/**
 * Lines that begin with `+`, `~`, `order:` and, in one line, `-`; `more` changes did not fit. What appeared is told as in a
 * dump, whose lines may hold several. Empty when nothing changed.
 */
export function renderChanges(diff: ElementDiff, maxTokens: number): { text: string; more: number } {
  const gone = goneLine(diff.gone);
  const room = maxTokens - estimateTokens(gone);
  const told = [...diff.changed.map(changedLine), ...orderLine(diff.reordered)];
  const kept = Math.min(estimateTokens(told.join("\n")), room / 2);
  const appeared = renderElements(diff.appeared, { maxTokens: room - kept });
  const changed = fitting(told, room - estimateTokens(appeared.text));
  const lines = [
    ...appeared.text.split("\n").flatMap((line) => (line === "" ? [] : [`+ ${line.trimStart()}`])),
    ...changed.taken,
    ...(gone === "" ? [] : [gone]),
  ];
  return { text: lines.join("\n"), more: appeared.more + changed.more };
}

export function fitting(lines: readonly string[], maxTokens: number): { taken: string[]; more: number } {
  const taken: string[] = [];
  let left = maxTokens;
  for (const line of lines) {
    left -= estimateTokens(`${line}\n`);
    if (left < 0) break;
    taken.push(line);
  }
  return { taken, more: lines.length - taken.length };
}

function changedLine({ before, after: { headers: _, ...after } }: Change): string {
  return `~ ${describeElement(after)}${was(before, after)}`;
}

/** A text that is new, or said `was`. */
export function changedText(element: Element, was: string): string {
  const line = describeElement(element);
  return was === "" ? `+ ${line}` : `~ ${line}, was ${quote(was, 60)}`;
}

/** What is no longer so, in as few words as will do. */
function was(before: Element, after: Element): string {
  if (before.name !== after.name) return `, was ${quote(before.name, 60)}`;
  if (before.value !== after.value) return `, was ${quote(before.value ?? "", 60)}`;
  if (before.text !== after.text) return before.text ? `, was ${quote(before.text, 60)}` : "";
  const lost = before.states.filter((state) => state !== "focused" && !after.states.includes(state));
  return lost.length > 0 ? `, no longer ${lost.join(" ")}` : "";
}

function goneLine(gone: readonly Element[]): string {
  return gone.length === 0 ? "" : `- ${named(gone, 3)}`;
}

function orderLine(reordered: readonly Element[]): string[] {
  return reordered.length === 0 ? [] : [`order: ${named(reordered, 10)}`];
}

function named(elements: readonly Element[], most: number): string {
  const names = elements
    .slice(0, most)
    .map(({ ref, role, name, text }) => `${ref} ${role} ${quote(name || (text ?? ""), 30)}`);
  const rest = elements.length > names.length ? ` and ${elements.length - names.length} more` : "";
  return `${names.join(", ")}${rest}`;
}
