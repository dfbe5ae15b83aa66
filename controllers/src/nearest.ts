/** Up to `limit` names that are most like `wanted`, best first: what an error offers when a name is unknown. */
export function nearest(wanted: string, names: Iterable<string>, limit = 5): string[] {
  return [...new Set(names)]
    .map((name) => ({ name, score: similarity(wanted, name) }))
    .filter(({ score }) => score > 0.2)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Dice coefficient over letter pairs, 0..1; a name that contains the other counts as at least 0.5. */
export function similarity(a: string, b: string): number {
  const left = fold(a);
  const right = fold(b);
  if (left === right) return 1;
  const shared = sharedPairs(pairs(left), pairs(right));
  const total = Math.max(left.length - 1, 0) + Math.max(right.length - 1, 0);
  const dice = total === 0 ? 0 : (2 * shared) / total;
  const contains = left.length > 2 && right.length > 2 && (left.includes(right) || right.includes(left));
  return contains ? Math.max(0.5, dice) : dice;
}

const fold = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\s_-]+/g, " ")
    .trim()
    .slice(0, 200);

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
