import type { Attempt, Execution, RunMark } from "../../domain/execution.ts";
import type { RunView, StepView } from "../../domain/runView.ts";

/** A run in a report. `word` is its status, or flaky. */
export type ReportTest = Pick<Execution, "id" | "name" | "status" | "reason" | "rerun" | "session_url"> & {
  word: string;
  /** ISO 8601. */
  started_at: string;
  duration_ms: number;
  /** Why the first attempt of a flaky one failed. */
  firstReason?: string;
  /** Faults of the app, said next to the verdict. */
  faults: readonly string[];
  attempts: readonly Attempt[];
  steps: readonly StepView[];
  /** So many steps, and the facts, are only in the report's data. Its script draws them when the test is opened. */
  later?: number;
  /** The step that decided, where it did not pass. */
  decided?: StepView;
  facts: RunView["facts"];
  /** Videos and traces, as paths from the report's file. */
  files: readonly string[];
  /** Of a matrix. */
  group?: string;
  /** Earlier runs of the test, newest first. */
  history?: readonly RunMark[];
  requirements: readonly { code: string; name: string; coverage: string }[];
};

/** A test of the same run that was not started. `isError`: it could not be; else the run ended before it. */
export type UnstartedTest = {
  name: string;
  reason: string;
  isError?: boolean | undefined;
  group?: string | undefined;
};

/** What a report shows, without secrets. `tests` are in the order in which they ran. */
export type Report = {
  id: string;
  /** ISO 8601. */
  generatedAt: string;
  tests: readonly ReportTest[];
  skipped: readonly UnstartedTest[];
  notes: readonly string[];
  /** By URI: the id of a picture that the file has, and its size in pixels. */
  pictures: ReadonlyMap<string, { id: string; width: number; height: number }>;
};
