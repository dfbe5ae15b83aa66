import type { FinalStatus, Params } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { storageFailure } from "../../../storage/engine/failure.ts";
import type { ExecutionEnd } from "../../../storage/rows/executionRows.ts";
import type { Clock } from "../../ports.ts";

export type Reason = { code: string; message: string };

export type BodyResult<Output> = {
  status: FinalStatus;
  reason?: Reason;
  outputs?: Params;
  output: Output;
};

export type Outcome<Output> = { ok: true; result: BodyResult<Output> } | { ok: false; error: unknown };

/** How a run ends. An abort decides over whatever the code made of it: a run that was stopped has no verdict. */
export function endingOf<Output>(
  outcome: Outcome<Output> | undefined,
  signal: AbortSignal,
): { status: FinalStatus; reason?: Reason } {
  if (signal.aborted) return abortEnding(signal.reason);
  if (!outcome) return { status: "error", reason: reasonOf(undefined) };
  if (!outcome.ok) return { status: "error", reason: reasonOf(outcome.error) };
  const { status, reason } = outcome.result;
  return { status, ...(reason && { reason }) };
}

/** `timeout` for a run over its time, `cancelled` for one that a client stopped, else `error` (a lost lease). */
export function abortEnding(reason: unknown): { status: FinalStatus; reason: Reason } {
  const found = reasonOf(reason);
  if (found.code === "EXECUTION_TIMEOUT") return { status: "timeout", reason: found };
  if (found.code === "CANCELLED") return { status: "cancelled", reason: found };
  return { status: "error", reason: found };
}

/** Code and sentence of any error; INTERNAL for one without a code. */
export function reasonOf(error: unknown): Reason {
  const known = error instanceof ToolError ? error : storageFailure(error);
  if (known) return { code: known.code, message: `${known.message} ${known.hint}`.trim() };
  if (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    /^[A-Z_]+$/.test(error.code)
  ) {
    return { code: error.code, message: error.message };
  }
  if (error instanceof Error && error.name === "AbortError")
    return { code: "CANCELLED", message: "Cancelled." };
  return {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : "The run ended without a result.",
  };
}

export const cancelledBy = (by: string) =>
  new ToolError("CANCELLED", `Cancelled by ${by}.`, "Run it again when you are ready.");

export const timedOut = (timeoutMs: number) =>
  new ToolError(
    "EXECUTION_TIMEOUT",
    `The run took longer than its ${timeoutMs} ms.`,
    "Give a larger timeout_ms, or look at the last step for what it waited for.",
  );

export type Waited = { ended: true; end: ExecutionEnd } | { ended: false };

/** A run's end as a promise with its resolve and reject. A rejection without a listener is not reported as unhandled. */
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

/** Waits for the end, `waitMs`, `stopped` or an abort. After a cancel it still waits for the end. A deadline cancels nothing. */
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
