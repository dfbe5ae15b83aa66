import type {
  Execution,
  ExecutionKind,
  ExecutionStatus,
  FinalStatus,
  Params,
  Step,
} from "../../domain/index.ts";
import type { ToolError } from "../../errors.ts";
import type { CallContext } from "./calls.ts";
import type { DeviceRef, OpenDevice } from "./devices.ts";

/** What a running execution offers the code that runs it. `signal` is the run's own: cancel, lease, time limit. */
export type Run = {
  id: string;
  kind: ExecutionKind;
  device: OpenDevice;
  session_id?: string | undefined;
  signal: AbortSignal;
  context: CallContext;
  /** What the device did by itself between the last run of the same holder and this one. */
  noticesBefore: readonly string[];
  /** Stores a step with the notices since the last one, and returns these. Without a device it waits for the step before only. */
  step(step: Omit<Step, "index">): Promise<readonly string[]>;
  begins(label: string): void;
  /** Counts checks that were really made. */
  verified(count: number): void;
};

export type RunSpec = {
  kind: ExecutionKind;
  name: string;
  /** `none` for a run that touches no device: it takes no lease and waits for no turn. */
  device: DeviceRef | "none";
  /** Recorded as given; secrets not filled in. */
  input: unknown;
  userinterface?: string | undefined;
  environment?: string | undefined;
  release?: string | undefined;
  build?: string | undefined;
  correlation_id?: string | undefined;
  wait_ms: number;
  timeout_ms: number;
  stops?: StepStops | undefined;
};

/** Where a run has stopped that a person goes through step by step. */
export type StepStops = {
  /** The step that comes next, counted from 1; undefined while the run is not stopped. */
  readonly at: { number: number; step: string } | undefined;
  stopped(): Promise<void>;
  /** Makes the next step, or all that are left. */
  go(way: "next" | "on"): void;
};

/** The end of a run, or where it stands when `wait_ms` was over first. */
export type RunReply<Output> = {
  execution_id: string;
  status: ExecutionStatus;
  reason?: { code: string; message: string } | undefined;
  duration_ms?: number | undefined;
  steps_done: number;
  /** The run is stopped before this step. */
  next_step?: StepStops["at"];
  doing?: string | undefined;
  output?: Output | undefined;
};

export type ExecutionService = {
  /** Aborting the caller's signal while it waits cancels the run; after `wait_ms` the run goes on without the caller. */
  run<Output extends object>(
    spec: RunSpec,
    context: CallContext,
    body: (run: Run) => Promise<{
      status: FinalStatus;
      reason?: { code: string; message: string };
      outputs?: Params;
      output: Output;
    }>,
  ): Promise<RunReply<Output>>;
  /** Waits for a run that has begun; its stored result is the output. Throws EXECUTION_NOT_FOUND. */
  wait(executionId: string, waitMs: number, context: CallContext): Promise<RunReply<object>>;
  /** Lets a run go on that is stopped before a step. Throws INVALID_INPUT for one that is not. */
  goOn(executionId: string, way: "next" | "on"): void;
  get(executionId: string): Promise<{ execution: Execution; steps: Step[] }>;
  cancel(executionId: string, by: string): Promise<Execution>;
  /** Cancels the runs that are a part of this one, and waits for their ends. */
  endWithin(executionId: string): Promise<void>;
  /** Marks runs that a dead process of this host left open `error: INTERRUPTED`. Once, at start. */
  recover(): Promise<number>;
  running(): number;
  /** Stops every run, which then ends `error` with this reason. */
  stopAll(reason: ToolError): void;
  /** Stores the ends that the database could not take. Rejects while it still cannot. */
  storeLate(): Promise<void>;
  close(): Promise<void>;
};
