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
