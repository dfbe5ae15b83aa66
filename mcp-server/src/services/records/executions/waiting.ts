import { ToolError } from "../../../errors.ts";
import type { ExecutionEnd } from "../../../storage/rows/executionRows.ts";
import type { Clock } from "../../ports.ts";

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
 * Waits for the end, at most `waitMs`, until `stopped` resolves or until `signal` aborts. When its caller cancels and `cancel` is given, calls that
 * and goes on waiting for the end that follows from it, since whoever cancelled wants to know that the device has stopped.
 * The call's deadline cancels nothing.
 */
export async function waitForEnd(
  ended: Promise<ExecutionEnd>,
  options: {
    clock: Clock;
    waitMs: number;
    signal: AbortSignal;
    stopped?: Promise<void> | undefined;
    cancel?: () => void;
  },
): Promise<Waited> {
  const { clock, waitMs, signal, stopped, cancel } = options;
  let stopTimer = () => {};
  let stopWaiting = () => {};
  const timeOver = new Promise<Waited>((resolve) => {
    stopWaiting = () => resolve({ ended: false });
    stopTimer = clock.setTimeout(stopWaiting, Math.max(0, waitMs));
  });
  const abort = () => {
    if (!cancel || isDeadline(signal.reason)) return stopWaiting();
    stopTimer();
    cancel();
  };
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  void stopped?.then(stopWaiting);
  try {
    return await Promise.race([ended.then((end): Waited => ({ ended: true, end })), timeOver]);
  } finally {
    stopTimer();
    signal.removeEventListener("abort", abort);
  }
}

/** Whether a call was ended by its own deadline, and not by its caller. */
export const isDeadline = (reason: unknown) =>
  reason instanceof ToolError && reason.code === "EXECUTION_TIMEOUT";
