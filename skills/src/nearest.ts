/** Up to `limit` names that are most like `wanted`, best first: what a problem offers when a name is unknown. */
export function nearest(wanted: string, names: Iterable<string>, limit = 3): string[] {
  return [...new Set(names)]
    .map((name) => ({ name, score: likeness(wanted, name) }))
    .filter(({ score }) => score > 0.3)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Dice coefficient over the distinct letter pairs, 0..1. */
function likeness(a: string, b: string): number {
  const left = pairsOf(a);
  const right = pairsOf(b);
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return (2 * shared) / Math.max(left.size + right.size, 1);
}

function pairsOf(name: string): Set<string> {
  const text = ` ${name.toLowerCase().replace(/[\s_-]+/g, " ")} `.slice(0, 200);
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
}
