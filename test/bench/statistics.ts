/** `fraction` is 0..1; nearest rank. NaN for no values. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
};

/** Our time by theirs, round by round. */
export const ratiosOf = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.flatMap((time, round) => {
    const other = theirs[round];
    return other === undefined ? [] : [time / other];
  });

const drawings = 1_000;

/**
 * Bounds between which the ratio of the two medians lies with 95 % confidence, from rounds drawn again at random (bootstrap).
 * Rounds are drawn whole, since a busy moment of the machine hits both sides of a round.
 */
export function ratioInterval(ours: readonly number[], theirs: readonly number[]): [number, number] {
  const ratios = Array.from({ length: drawings }, () => {
    const drawn = ours.map(() => Math.floor(Math.random() * ours.length));
    const medianOf = (times: readonly number[]) => median(drawn.map((round) => times[round] ?? Number.NaN));
    return medianOf(ours) / medianOf(theirs);
  });
  return [percentile(ratios, 0.025), percentile(ratios, 0.975)];
}

/**
 * Runs every side once a round, in turn, so that a busy moment of the machine hits all of them; the order is reversed in
 * every second round. The first `warmUps` rounds are not counted. Each side returns its own time in milliseconds; the
 * result has the times of each, in the order of `sides`.
 */
export async function alternate(
  sides: readonly (() => Promise<number>)[],
  options: { rounds: number; warmUps: number },
): Promise<number[][]> {
  const times: number[][] = sides.map(() => []);
  const order = sides.map((run, index) => ({ run, index }));
  for (let round = -options.warmUps; round < options.rounds; round++) {
    for (const { run, index } of round % 2 === 0 ? order : order.toReversed()) {
      const time = await run();
      if (round >= 0) times[index]?.push(time);
    }
  }
  return times;
}

export async function timed<Result>(run: () => Promise<Result>): Promise<{ ms: number; result: Result }> {
  const start = performance.now();
  const result = await run();
  return { ms: performance.now() - start, result };
}
