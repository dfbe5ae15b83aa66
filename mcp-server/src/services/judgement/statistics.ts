/** Wilson's interval at 95 % for a rate of `hits` in `n` > 0. */
export function wilson(hits: number, n: number): { low: number; high: number } {
  const z = 1.96;
  const rate = hits / n;
  const middle = rate + (z * z) / (2 * n);
  const spread = z * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Laplace's rule of succession: the mean of Beta(1,1) after `n` observations that all say the same. */
export const succession = (n: number): number => (n + 1) / (n + 2);

/** A flaky test passes more often than it fails, else it is called broken: Beta(1,3), a mean of a quarter. */
const flakyPrior = { failures: 1, passes: 3 };

/**
 * The chance that a flaky test fails `row` times one after the other, when it failed `failures` times in `n` runs before:
 * the predictive probability under a prior of Beta(1,3).
 */
export function chanceOfRow(row: number, failures: number, n: number): number {
  let chance = 1;
  for (let i = 0; i < row; i++)
    chance *= (flakyPrior.failures + failures + i) / (flakyPrior.failures + flakyPrior.passes + n + i);
  return chance;
}
