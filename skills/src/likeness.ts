import type { Features } from "./features.ts";
import { sum } from "./sum.ts";

/** The nearest example says most, and two more that are near as well say that it is not by chance. */
const shares = [1, 0.5, 0.25] as const;

type Known = { at: number; weight: number };

/**
 * How like a label's nearest examples a text is, for each label in their order; 0 is not at all. The cosine of both, where
 * a feature counts less the more labels have it.
 */
export function learnLikeness(
  examplesOf: readonly (readonly Features[])[],
): (features: Features) => readonly number[] {
  const rarity = rarityIn(examplesOf);
  const scaled = (features: Features) => scale(features, rarity);
  const starts = examplesOf.map((_, label) => sum(examplesOf.slice(0, label).map(({ length }) => length)));
  const having = new Map<string, Known[]>();
  examplesOf.flat().forEach((example, at) => {
    for (const [feature, weight] of scaled(example)) {
      const known = having.get(feature);
      if (known === undefined) having.set(feature, [{ at, weight }]);
      else known.push({ at, weight });
    }
  });
  return (features) => {
    const cosines = new Float64Array(sum(examplesOf.map(({ length }) => length)));
    for (const [feature, weight] of scaled(features))
      for (const known of having.get(feature) ?? [])
        cosines[known.at] = (cosines[known.at] ?? 0) + weight * known.weight;
    return examplesOf.map(({ length }, label) => {
      const start = starts[label] ?? 0;
      return nearestOf(cosines, start, start + length);
    });
  };
}

/** The three highest in a range, each with its share: one pass, since it is done for every part of every request. */
function nearestOf(cosines: Float64Array, from: number, to: number): number {
  let [first, second, third] = [0, 0, 0];
  for (let at = from; at < to; at++) {
    const cosine = cosines[at] ?? 0;
    if (cosine > first) [first, second, third] = [cosine, first, second];
    else if (cosine > second) [second, third] = [cosine, second];
    else if (cosine > third) third = cosine;
  }
  return shares[0] * first + shares[1] * second + shares[2] * third;
}

/** From 0, for what every label has. */
function rarityIn(examplesOf: readonly (readonly Features[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const examples of examplesOf)
    for (const feature of new Set(examples.flatMap((features) => [...features.keys()])))
      counts.set(feature, (counts.get(feature) ?? 0) + 1);
  return new Map([...counts].map(([feature, count]) => [feature, Math.log((examplesOf.length + 1) / count)]));
}

/** Only what is known, its squares summing up to 1. */
function scale(features: Features, rarity: ReadonlyMap<string, number>): [string, number][] {
  const rare = [...features].flatMap(([feature, weight]): [string, number][] => {
    const known = rarity.get(feature);
    return known === undefined ? [] : [[feature, weight * known]];
  });
  const length = Math.sqrt(sum(rare.map(([, weight]) => weight ** 2))) || 1;
  return rare.map(([feature, weight]) => [feature, weight / length]);
}
