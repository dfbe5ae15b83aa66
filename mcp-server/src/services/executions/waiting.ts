import type { ExecutionEnd } from "../../storage/executionRows.ts";
import type { Clock } from "../ports.ts";

export type Waited = { ended: true; end: ExecutionEnd } | { ended: false };

/** A promise of a run's end, and the two ways to keep it. A refusal that nobody waits for is no unhandled one. */
export function pendingEnd() {
  let settle: (end: ExecutionEnd) => void = () => {};
  let refuse: (error: unknown) => void = () => {};
  const ended = new Promise<ExecutionEnd>((resolve, reject) => {
    settle = resolve;
    refuse = reject;
  });
  ended.catch(() => undefined);
  return { ended, settle, refuse };
}

/**
 * Waits for the end, at most `waitMs`. When `signal` aborts, calls `onAbort` and goes on waiting for the end that
 * follows from it, since whoever cancelled wants to know that the device has stopped.
 */
export async function waitForEnd(
  ended: Promise<ExecutionEnd>,
  options: { clock: Clock; waitMs: number; signal: AbortSignal; onAbort: () => void },
): Promise<Waited> {
  const { clock, waitMs, signal, onAbort } = options;
  let stopTimer = () => {};
  let aborted = signal.aborted;
  const timeOver = new Promise<Waited>((resolve) => {
    stopTimer = clock.setTimeout(() => {
      if (!aborted) resolve({ ended: false });
    }, waitMs);
  });
  const abort = () => {
    aborted = true;
    onAbort();
  };
  if (aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([ended.then((end): Waited => ({ ended: true, end })), timeOver]);
  } finally {
    stopTimer();
    signal.removeEventListener("abort", abort);
  }
}
