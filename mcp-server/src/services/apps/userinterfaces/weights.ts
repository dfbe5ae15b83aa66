/** `median_ms` is of the successful runs, if there are any. */
export type RunStats = { runs: number; successes: number; median_ms: number };

/** Two-sided 95 percent of the normal distribution. */
const z95 = 1.959964;
/** With fewer runs the mean of Beta(1, 1), updated by the runs, is used. */
const runsBeforeTrust = 3;
/** Expected duration of an edge that never ran: one action on a page that answers in about a second. */
const priorDurationMs = 1_000;
/** A limit as a multiple of the median, so that one bad edge is avoided but stays possible. */
export const capFactor = 20;

/** Wilson score interval of a success rate; 0..1, and the whole range when nothing ran. */
export function wilson(successes: number, runs: number): { low: number; high: number } {
  if (runs <= 0) return { low: 0, high: 1 };
  const rate = successes / runs;
  const square = z95 * z95;
  const scale = 1 + square / runs;
  const centre = (rate + square / (2 * runs)) / scale;
  const half = (z95 * Math.sqrt((rate * (1 - rate) + square / (4 * runs)) / runs)) / scale;
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** The rate to multiply into a path's confidence, 0..1. */
export function successRate(stats: RunStats | undefined): number {
  const { runs, successes } = stats ?? { runs: 0, successes: 0 };
  return runs < runsBeforeTrust ? (successes + 1) / (runs + 2) : successes / runs;
}

/** Median duration over the careful success rate, plus the time of its target's checks. Infinite if it never worked. */
export function expectedMs(edge: RunStats | undefined, verification: RunStats | undefined): number {
  const rate =
    edge === undefined || edge.runs < runsBeforeTrust
      ? successRate(edge)
      : wilson(edge.successes, edge.runs).low;
  const duration = edge === undefined || edge.runs === 0 ? priorDurationMs : edge.median_ms;
  const checks = verification === undefined || verification.runs === 0 ? 0 : verification.median_ms;
  return rate > 0 ? Math.max(1, Math.round(duration / rate + checks)) : Number.POSITIVE_INFINITY;
}
