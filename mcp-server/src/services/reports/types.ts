import type { Execution, Step } from "../../domain/index.ts";

export type Picture = { mimeType: string; bytes: Uint8Array };

/** One execution in a report. `pictures` are by artifact URI; one that is not there is not kept any more. */
export type ReportEntry = {
  execution: Execution;
  steps: readonly Step[];
  pictures: ReadonlyMap<string, Picture>;
};

/** What a report says of itself. Times are ISO 8601 UTC. */
export type ReportHead = { id: string; generatedAt: string };

export type ReportSummary = {
  tests: number;
  passed: number;
  failed: number;
  errors: number;
  /** Cancelled, or not ended yet. */
  other: number;
  duration_ms: number;
};
