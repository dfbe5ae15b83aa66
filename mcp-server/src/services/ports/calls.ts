import type { FinishedRun } from "../../storage/rows/executionRows.ts";

/**
 * Real time, or a test's. `now` is the wall clock in milliseconds since the epoch, for instants that people read and the
 * database keeps. People and time servers set it, so durations and deadlines are measured with `monotonic`: whole
 * milliseconds since the process started, never set. `setTimeout` returns the function that cancels it; `sleep` throws the
 * signal's reason.
 */
export type Clock = {
  now(): number;
  monotonic(): number;
  setTimeout(run: () => void, ms: number): () => void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/**
 * Who calls, and under what limits. `client` names one living client (a bridge process, an HTTP session, a job) and,
 * with `principal`, owns leases. `deadline` is a reading of `Clock.monotonic`. `signal` aborts on cancellation and, with
 * EXECUTION_TIMEOUT, at the deadline.
 */
export type CallContext = {
  principal: string;
  client: string;
  signal: AbortSignal;
  deadline: number;
  trace_id: string;
  progress(done: number, total: number | undefined, message: string): void;
  /** `views`: the host shows views of results. */
  capabilities: { elicitation: boolean; views?: boolean };
  /** Says what the call touched, for its log line and the audit. Whoever finds the device or starts a run calls it. */
  note?(facts: CallFacts): void;
  /** Stores a run with the call's own end; settles when that is done. Undefined, and not taken, when the call has ended. */
  leave?(run: FinishedRun): Promise<void> | undefined;
  /** The run that this call is a part of: one that it starts on the same device does not wait for that run's end. */
  within?: string | undefined;
};
export type { FinishedRun };
export type CallFacts = { device_id?: string; session_id?: string; fence?: number; execution_id?: string };
