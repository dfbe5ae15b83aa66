import type { Coverage, Execution, PictureChoice, RunMark, Step } from "../../../domain/index.ts";

/** `width` and `height` are those of the screenshot: places on it are in its pixels, also where `bytes` are a smaller copy. */
export type Picture = { mimeType: string; bytes: Uint8Array; width: number; height: number };

export type CheckedRequirement = { code: string; name: string; coverage: Coverage };

/** `pictures` are by artifact URI; a missing one was not kept. `requirements` are those of the test case. */
export type ReportEntry = {
  execution: Execution;
  steps: readonly Step[];
  pictures: ReadonlyMap<string, Picture>;
  /** `failed` when left out. */
  pictureChoice?: PictureChoice;
  requirements?: readonly CheckedRequirement[];
  /** Videos and traces, as paths from the report. */
  files?: readonly string[];
  /** What the run calls the device: a name of its matrix. */
  group?: string;
  /** Earlier runs of the test, newest first. */
  history?: readonly RunMark[];
};

/** A test of the same run that was not started. `isError`: it could not be; else the run ended before it. */
export type SkippedTest = {
  name: string;
  reason: string;
  isError?: boolean | undefined;
  group?: string | undefined;
};

/**
 * What a report says of itself. Times are ISO 8601 UTC. `skipped` are in every form, and in its counts; `notes` are lines of a
 * review, only on the page.
 */
export type ReportHead = {
  id: string;
  generatedAt: string;
  skipped?: readonly SkippedTest[];
  notes?: readonly string[];
};

export type ReportSummary = {
  /** Runs, {@link skipped} tests and tests that could not be started. */
  tests: number;
  /** Some of them are {@link flaky}. */
  passed: number;
  flaky: number;
  failed: number;
  /** Tests that could not be started are among them. */
  errors: number;
  /** Cancelled, or not ended yet. */
  other: number;
  skipped: number;
  duration_ms: number;
};
