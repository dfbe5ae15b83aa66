import type { Coverage, Execution, PictureChoice, Step } from "../../../domain/index.ts";

/** `width` and `height` are those of the screenshot: places on it are in its pixels, also where `bytes` are a smaller copy. */
export type Picture = { mimeType: string; bytes: Uint8Array; width: number; height: number };

/** A requirement that a test case checks, and how much of it. */
export type CheckedRequirement = { code: string; name: string; coverage: Coverage };

/**
 * One execution in a report. `pictures` are by artifact URI; one that is not there is not kept any more. `requirements`
 * are those of the test case that ran.
 */
export type ReportEntry = {
  execution: Execution;
  steps: readonly Step[];
  pictures: ReadonlyMap<string, Picture>;
  /** `failed` when left out. */
  pictureChoice?: PictureChoice;
  requirements?: readonly CheckedRequirement[];
};

/** What a report says of itself. Times are ISO 8601 UTC. */
export type ReportHead = { id: string; generatedAt: string };

export type ReportSummary = {
  tests: number;
  /** Some of them are {@link flaky}. */
  passed: number;
  flaky: number;
  failed: number;
  errors: number;
  /** Cancelled, or not ended yet. */
  other: number;
  duration_ms: number;
};
