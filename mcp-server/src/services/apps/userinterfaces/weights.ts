/** What is known of an edge's action set or of a node's checks. `median_ms` is of the runs that went well, if any did. */
export type RunStats = { runs: number; successes: number; median_ms: number };

/** Two-sided 95 percent of the normal distribution. */
const z95 = 1.959964;
/** Below this many runs a rate says little, so the mean of Beta(1, 1) updated by the runs stands in for it. */
const runsBeforeTrust = 3;
/** What an edge is thought to take that never ran: one action on a page that answers in about a second. */
const priorDurationMs = 1_000;
/** No weight exceeds this many times the median, so that one bad edge is avoided but never unthinkable. */
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

/**
 * Expected milliseconds of an edge: median duration over the careful success rate, plus the time its target's checks
 * take. Infinite if it never once worked; the graph caps it.
 */
export function expectedMs(edge: RunStats | undefined, verification: RunStats | undefined): number {
  const rate =
    edge === undefined || edge.runs < runsBeforeTrust
      ? successRate(edge)
      : wilson(edge.successes, edge.runs).low;
  const duration = edge === undefined || edge.runs === 0 ? priorDurationMs : edge.median_ms;
  const checks = verification === undefined || verification.runs === 0 ? 0 : verification.median_ms;
  return rate > 0 ? Math.max(1, Math.round(duration / rate + checks)) : Number.POSITIVE_INFINITY;
}
