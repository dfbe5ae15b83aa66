import type { Features } from "./features.ts";
import { sum } from "./sum.ts";

export type Evidence = {
  /** For each label, in their order, how likely it is, as a logarithm: only the differences say something. */
  scores: readonly number[];
  /** How much of the features any label has. */
  known: number;
};

/** What a feature counts that a label's examples do not have, where they have `mass` in all. */
const unseen = 0.05;
/** Every label has as much to say, however many examples it has. */
const mass = 50;

/**
 * Learns from each label's examples what speaks for it, as naive Bayes does: what it has more often than the others have. A
 * feature that no example has says nothing.
 */
export function learnEvidence(
  examplesOf: readonly (readonly Features[])[],
): (features: Features) => Evidence {
  const counted = examplesOf.map(countFeatures);
  const known = new Set(counted.flatMap(({ counts }) => [...counts.keys()]));
  const scoreOf = (feature: string, { counts, total }: Counted) =>
    Math.log(((counts.get(feature) ?? 0) + unseen) / (total + unseen * known.size));
  // Reckoned when it is first met: most of what was learned is never asked for.
  const scores = new Map<string, readonly number[]>();
  const scoresOf = (feature: string): readonly number[] | undefined => {
    if (!known.has(feature)) return undefined;
    const byLabel = scores.get(feature) ?? counted.map((one) => scoreOf(feature, one));
    scores.set(feature, byLabel);
    return byLabel;
  };
  return (features) => {
    const read = [...features].flatMap(([feature, weight]) => {
      const byLabel = scoresOf(feature);
      return byLabel === undefined ? [] : [{ byLabel, weight }];
    });
    return {
      scores: counted.map((_, at) => sum(read.map(({ byLabel, weight }) => weight * (byLabel[at] ?? 0)))),
      known: sum(read.map(({ weight }) => weight)),
    };
  };
}

type Counted = { counts: ReadonlyMap<string, number>; total: number };

function countFeatures(examples: readonly Features[]): Counted {
  const counts = new Map<string, number>();
  for (const features of examples)
    for (const [feature, weight] of features)
      counts.set(feature, (counts.get(feature) ?? 0) + (weight * mass) / examples.length);
  return { counts, total: sum([...counts.values()]) };
}
