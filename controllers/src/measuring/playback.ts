import { isBlack, msBetween } from "./interruption.ts";
import type { Sample } from "./sample.ts";

/** A picture that stands still for less is not seen to stall. */
const leastStallMs = 200;

/**
 * How a picture played, from sample `from` on. `started` is the place of the first sample that moves, after which `stalls` are
 * counted: stretches of the same picture, in ms from the sample `from`. Black does not count as one.
 */
export type Playback = {
  started?: number;
  stalls: readonly { atMs: number; ms: number }[];
  blackMs: number;
  movingMs: number;
};

export function playbackOf(samples: readonly Sample[], from: number): Playback {
  const started = samples.findIndex((sample, at) => at > from && moves(sample));
  if (started < 0) return { stalls: [], blackMs: blackOf(samples, from), movingMs: 0 };
  const stalls: { atMs: number; ms: number }[] = [];
  let moved = started;
  for (let at = started + 1; at <= samples.length; at++) {
    const sample = samples[at];
    if (sample && !moves(sample) && !isBlack(sample)) continue;
    const ms = msBetween(samples, moved, Math.min(at, samples.length - 1));
    if (ms >= leastStallMs) stalls.push({ atMs: msBetween(samples, from, moved), ms });
    moved = at;
  }
  const blackMs = blackOf(samples, started);
  const stalledMs = stalls.reduce((sum, { ms }) => sum + ms, 0);
  const movingMs = msBetween(samples, started, samples.length - 1) - blackMs - stalledMs;
  return { started, stalls, blackMs, movingMs };
}

const moves = (sample: Sample): boolean => sample.changed.length > 0 && !isBlack(sample);

function blackOf(samples: readonly Sample[], from: number): number {
  let total = 0;
  for (let at = Math.max(0, from); at + 1 < samples.length; at++) {
    const sample = samples[at];
    if (sample && isBlack(sample)) total += msBetween(samples, at, at + 1);
  }
  return total;
}
