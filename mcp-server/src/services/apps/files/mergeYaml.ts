import { isDeepStrictEqual } from "node:util";
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { type Fields, isFields } from "../steps/index.ts";
import { compact, layOut } from "./layOut.ts";

/** Writes the differences of `before` and `after` into a YAML text. `before` is what the text says. All else stays as written. */
export function mergeYaml(text: string, before: Fields, after: Fields): string {
  const document = parseDocument(text, { uniqueKeys: false });
  const style = styleOf(text);
  const unchanged = document.toString(style);
  const { contents } = document;
  if (isMap(contents)) mergeMap(document, contents, before, after, true);
  return withLinesOf(text, unchanged, document.toString(style));
}

/** The new text below the comments above the first key of `text`. */
export function rewrittenYaml(text: string, written: string): string {
  const head = /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)?.[0] ?? "";
  return head + written;
}

/** How the author indents, so that lines which are not changed stay the same. */
function styleOf(text: string) {
  const indent = /^[^\s#][^\n]*:[^\n]*\n( +)\S/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indent: Math.min(8, Math.max(2, indent)),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
    flowCollectionPadding: !/[^\s]\{[^\s}]|: \{[^\s}]/.test(text),
  };
}

function merged(document: Document, node: unknown, before: unknown, after: unknown): unknown {
  if (isDeepStrictEqual(before, after)) return node;
  const isMerged =
    (isMap(node) && isFields(before) && isFields(after) && mergeMap(document, node, before, after, false)) ||
    (isSeq(node) && Array.isArray(before) && Array.isArray(after) && mergeSeq(document, node, before, after));
  if (isMerged) return node;
  const fresh = document.createNode(after, { aliasDuplicateObjects: false });
  const isTest = isMap(fresh) && fresh.has("name") && fresh.has("steps");
  (isTest ? layOut : compact)(fresh);
  return withComments(fresh, node);
}

/** Comments of a node stay when another replaces it. */
function withComments(fresh: Node, old: unknown): Node {
  if (!isNode(old)) return fresh;
  const { comment, commentBefore, spaceBefore } = old;
  Object.assign(fresh, { comment, commentBefore, spaceBefore });
  return fresh;
}

/** False, with nothing changed, if the author's map lacks a changed key; a map at the top takes any. */
function mergeMap(document: Document, map: YAMLMap, before: Fields, after: Fields, isTop: boolean): boolean {
  const renamed = renames(before, after);
  const different = Object.keys(before).filter((key) => !isDeepStrictEqual(before[key], after[key]));
  if (!isTop && different.some((key) => !map.has(key))) return false;
  for (const [from, to] of renamed) renameKey(map, from, to);
  const gone = different.filter((key) => !(key in after) && !renamed.has(key));
  for (const key of gone) map.delete(key);
  const earlier = new Map([...renamed].map(([from, to]) => [to, from]));
  for (const [key, value] of Object.entries(after)) {
    const said = before[earlier.get(key) ?? key];
    if (!isDeepStrictEqual(said, value)) map.set(key, merged(document, map.get(key, true), said, value));
  }
  return true;
}

/** Old and new keys with the same value, or the only ones: a rename. */
function renames(before: Fields, after: Fields): Map<string, string> {
  const gone = Object.keys(before).filter((key) => !(key in after));
  const come = Object.keys(after).filter((key) => !(key in before));
  const found = new Map<string, string>();
  for (const from of gone) {
    const isSame = (to: string) =>
      ![...found.values()].includes(to) && isDeepStrictEqual(before[from], after[to]);
    const to = gone.length === 1 && come.length === 1 ? come[0] : come.find(isSame);
    if (to !== undefined) found.set(from, to);
  }
  return found;
}

function renameKey(map: YAMLMap, from: string, to: string): void {
  const key = map.items.map((pair) => pair.key).find((node) => isScalar(node) && String(node.value) === from);
  if (isScalar(key)) key.value = to;
}

/** False, with nothing changed, if the author's list has another length. */
function mergeSeq(
  document: Document,
  seq: YAMLSeq,
  before: readonly unknown[],
  after: readonly unknown[],
): boolean {
  if (seq.items.length !== before.length) return false;
  const most = Math.min(before.length, after.length);
  let first = 0;
  while (first < most && isDeepStrictEqual(before[first], after[first])) first++;
  let last = 0;
  while (last < most - first && isDeepStrictEqual(before.at(-1 - last), after.at(-1 - last))) last++;
  const between = after.slice(first, after.length - last);
  const taken = seq.items.slice(first, before.length - last);
  const items = between.map((value, at) => merged(document, taken[at], before[first + at], value));
  seq.items.splice(first, taken.length, ...items);
  return true;
}

/** `after` in the order of the keys before. A replacement takes the old place; new items come last. */
export function inOrderOf<Item>(
  keys: readonly string[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
): Item[] {
  const come = after.filter((item) => !keys.includes(keyOf(item)));
  const byKey = new Map(after.map((item) => [keyOf(item), item]));
  const gone = keys.filter((key) => !byKey.has(key));
  const replaced = gone.length === 1 && come.length === 1;
  const kept = keys.flatMap((key) => byKey.get(key) ?? (replaced ? come : []));
  return replaced ? kept : [...kept, ...come];
}

type Lines = readonly string[];

/** `changed`, with each line that it shares with `unchanged` as it is in `text`. */
function withLinesOf(text: string, unchanged: string, changed: string): string {
  const written = text.split("\n");
  const old = unchanged.split("\n");
  const now = changed.split("\n");
  if (written.length !== old.length) return changed;
  const most = Math.min(old.length, now.length);
  let first = 0;
  while (first < most && old[first] === now[first]) first++;
  let last = 0;
  while (last < most - first && old.at(-1 - last) === now.at(-1 - last)) last++;
  const middle = places(old.slice(first, old.length - last), now.slice(first, now.length - last));
  const between = middle.map((place, at) => (place === undefined ? now[first + at] : written[first + place]));
  return [...written.slice(0, first), ...between, ...written.slice(written.length - last)].join("\n");
}

/** The place of each line of `now` in `old`, by their longest common sequence; undefined for a new line. */
function places(old: Lines, now: Lines): (number | undefined)[] {
  const lengths = commonLengths(old, now);
  const found: (number | undefined)[] = now.map(() => undefined);
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) found[j++] = i++;
    else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) i++;
    else j++;
  }
  return found;
}

/** How many lines are common from each pair of places on. */
function commonLengths(old: Lines, now: Lines): Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    const [row, below] = lengths.slice(i, i + 2);
    for (let j = now.length - 1; row && below && j >= 0; j--)
      row[j] = old[i] === now[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return lengths;
}
