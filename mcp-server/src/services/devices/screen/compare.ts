import type { Dump, Element, TextNews } from "@labwright/controllers";
import { estimateTokens } from "../../values/tokens.ts";
import { describeElement, quote, renderElements } from "./render.ts";

/** Room for changes of texts, which a dump does not list: an error, a new total, a toast. */
const textTokens = 60;

type Compared = { text: string; more: number };

/**
 * What changed between two snapshots of one screen, in lines; never empty. `watchedMs` is how long the screen was watched. The
 * focus and places are compared only where a snapshot has the whole screen ({@link Dump.others}). Texts are compared there, or
 * by the page itself: `news` has what each snapshot since `before` says of them.
 */
export function compareDumps(
  before: Dump,
  after: Dump,
  maxTokens: number,
  { watchedMs = 0, news = [] }: { watchedMs?: number; news?: readonly TextNews[] } = {},
): Compared {
  const listed = diffElements(before.elements, after.elements);
  const { text, more } = renderChanges(listed, maxTokens);
  if (!before.others || !after.others) {
    const room = Math.min(textTokens, maxTokens - estimateTokens(text));
    const lines = [text, ...renderNews(news, text !== "", room)].filter((line) => line !== "");
    return { text: lines.join("\n") || nothingChanged(watchedMs), more };
  }
  const focus = focusLine(before, after, listed);
  const room = Math.min(textTokens, maxTokens - estimateTokens(`${text}\n${focus}`));
  const others = renderOthers(before.others, after.others, room);
  const lines = [text, ...others, focus].filter((line) => line !== "");
  return { text: lines.join("\n") || unlisted(before, after), more };
}

const nothingChanged = (watchedMs: number): string =>
  watchedMs > 0 ? `nothing changed within ${watchedMs} ms` : "nothing changed";

/** The latest words of each text. A change is reported even where no line of it has room. */
function renderNews(news: readonly TextNews[], hasChanges: boolean, maxTokens: number): string[] {
  const latest = new Map(news.flatMap(({ changed }) => changed.map((one) => [one.element.ref, one])));
  const passed = [...new Set(news.flatMap((one) => one.passed))].map((text) => quote(text, 100));
  const lines = [
    ...(passed.length > 0 ? [`shown for a moment: ${passed.join(", ")}`] : []),
    ...[...latest.values()].map(({ element, was }) => changedText(element, was)),
  ];
  const { taken, more } = fitting(lines, maxTokens);
  const rest = more + news.reduce((sum, one) => sum + one.more, 0);
  if (lines.length > 0 || rest > 0) return [...taken, rest > 0 ? `${rest} more texts changed` : ""];
  const gone = news.flatMap((one) => one.gone).map((text) => quote(text, 30));
  if (hasChanges || gone.length === 0) return [];
  return [`- text ${gone.slice(0, 3).join(", ")}${gone.length > 3 ? ` and ${gone.length - 3} more` : ""}`];
}

/** A text that was only drawn again is not a change. Texts that are gone are left out where something else changed. */
function renderOthers(before: readonly Element[], after: readonly Element[], maxTokens: number): string[] {
  const diff = diffElements(before, after);
  const appeared = diffElements(after, before).gone;
  const isReplaced = appeared.length + diff.changed.length > 0;
  const shown = { ...diff, appeared, gone: isReplaced ? [] : diff.gone, reordered: [] };
  const { text, more } = renderChanges(shown, maxTokens);
  return [text, more > 0 ? `${more} more texts changed` : ""];
}

/** The element that the focus moved to, unless a line of the changes says it already. */
function focusLine(before: Dump, after: Dump, { appeared, changed }: ElementDiff): string {
  const focused = focusedIn(after);
  const last = focusedIn(before);
  if (focused?.ref === last?.ref) return "";
  if (!focused) return "focus: none";
  const isListed = [...appeared, ...changed.map((change) => change.after)].includes(focused);
  return isListed ? "" : `focus: ${describeElement({ ...focused, states: [] })}`;
}

const all = ({ elements, others = [] }: Dump): Element[] => [...elements, ...others];
const focusedIn = (dump: Dump): Element | undefined =>
  all(dump).find(({ states }) => states.includes("focused"));

/** A keyboard or a picture may still have changed: snapshots do not list them. */
function unlisted(before: Dump, after: Dump): string {
  const places = (dump: Dump) => JSON.stringify(all(dump).map(({ ref, rect }) => [ref, rect]));
  return places(before) === places(after) ? "no element changed" : "only places on the screen changed";
}

export type Change = { before: Element; after: Element };
/** `gone` leaves out what was only drawn anew under another ref. `reordered` elements stayed, in another order. */
export type ElementDiff = { appeared: Element[]; gone: Element[]; changed: Change[]; reordered: Element[] };

/** What became of a screen between two snapshots of it, by ref; a place on the screen does not count, an order does. */
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

/** No element of before is left. */
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

/** Lines with `+`, `~`, `order:` and, in one line, `-`; `more` changes did not fit. Empty when nothing changed. */
export function renderChanges(diff: ElementDiff, maxTokens: number): { text: string; more: number } {
  const gone = goneLine(diff.gone);
  const room = maxTokens - estimateTokens(gone);
  const changes = [...diff.changed.map(changedLine), ...orderLine(diff.reordered)];
  const kept = Math.min(estimateTokens(changes.join("\n")), room / 2);
  const appeared = renderElements(diff.appeared, { maxTokens: room - kept });
  const changed = fitting(changes, room - estimateTokens(appeared.text));
  const lines = [
    ...appeared.text.split("\n").flatMap((line) => (line === "" ? [] : [`+ ${line.trimStart()}`])),
    ...changed.taken,
    ...(gone === "" ? [] : [gone]),
  ];
  return { text: lines.join("\n"), more: appeared.more + changed.more };
}

function fitting(lines: readonly string[], maxTokens: number): { taken: string[]; more: number } {
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

function changedText(element: Element, was: string): string {
  const line = describeElement(element);
  return was === "" ? `+ ${line}` : `~ ${line}, was ${quote(was, 60)}`;
}

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
