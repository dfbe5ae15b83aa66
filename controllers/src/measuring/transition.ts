import { msBetween } from "./interruption.ts";
import type { Sample } from "./sample.ts";

/**
 * Places of samples: the first that differs from the picture at the key, and the one from which nothing changes for
 * `stableMs`. `wasMoving`: the picture moved before the key by itself, so that only a cut counts as the first change.
 */
export type Transition = { wasMoving: boolean; first?: number; stable?: number };

/** A picture that changed within so long before the key moves by itself. */
const restMs = 300;

export function transitionOf(samples: readonly Sample[], keyMs: number, stableMs: number): Transition {
  const from = samples.findIndex(({ presentedMs }) => presentedMs > keyMs);
  if (from < 1) return { wasMoving: false };
  const wasMoving = samples.some(
    ({ changed }, at) => at > 0 && at < from && changed.length > 0 && msBetween(samples, at, from) <= restMs,
  );
  const first = samples.findIndex(
    ({ changed, isCut }, at) => at >= from && (wasMoving ? isCut : changed.length > 0),
  );
  if (first < 0) return { wasMoving };
  let stable = first;
  for (let at = first + 1; at < samples.length; at++) {
    if (samples[at]?.changed.length) stable = at;
    else if (msBetween(samples, stable, at) >= stableMs) return { wasMoving, first, stable };
  }
  return { wasMoving, first };
}
