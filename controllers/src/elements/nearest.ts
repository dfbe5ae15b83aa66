import { fold } from "./text.ts";

/** Up to `limit` names that are most like `wanted`, best first: what an error offers when a name is unknown. */
export function nearest(wanted: string, names: Iterable<string>, limit = 5): string[] {
  const sorted = [...names].sort();
  return nearestOf(wanted, sorted, { text: (name) => name, limit, least: 0.2 });
}

const mostCharacters = 500;

/** The things whose text is most like `wanted`, best first, each text once; in their own order where they are equally like. */
export function nearestOf<T>(
  wanted: string,
  things: readonly T[],
  { text, limit = 5, least = 0.3 }: { text(thing: T): string; limit?: number; least?: number },
): T[] {
  const seen = new Set<string>();
  // Names are shorter, and a caller may send a megabyte.
  const head = wanted.slice(0, mostCharacters);
  return things
    .map((thing) => ({ thing, key: text(thing), score: similarity(head, text(thing)) }))
    .filter(({ score }) => score > least)
    .sort((a, b) => b.score - a.score)
    .filter(({ key }) => !seen.has(key) && seen.add(key))
    .slice(0, limit)
    .map(({ thing }) => thing);
}

/** Dice coefficient over letter pairs, 0..1; a name that contains the other, or has two letters swapped, counts as at least 0.5. */
export function similarity(a: string, b: string): number {
  const left = spelling(a);
  const right = spelling(b);
  if (left === "" || right === "") return 0;
  if (left === right) return 1;
  const shared = sharedPairs(pairs(left), pairs(right));
  const total = Math.max(left.length - 1, 0) + Math.max(right.length - 1, 0);
  const dice = total === 0 ? 0 : (2 * shared) / total;
  const contains = left.length > 2 && right.length > 2 && (left.includes(right) || right.includes(left));
  return contains || isSwapped(left, right) ? Math.max(0.5, dice) : dice;
}

/** Whether two letters that stand side by side are the whole difference, which leaves short words no pair in common. */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length || a.length < 3) return false;
  let at = 0;
  while (a[at] === b[at]) at++;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

const spelling = (text: string) => fold(text.replace(/[_-]+/g, " ")).slice(0, 200);

function pairs(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + 1 < text.length; i++) {
    const pair = text.slice(i, i + 2);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

function sharedPairs(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let shared = 0;
  for (const [pair, count] of a) shared += Math.min(count, b.get(pair) ?? 0);
  return shared;
}
