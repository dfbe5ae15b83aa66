/** As the server names them; `test/agents/analysis` holds the two lists together. */
export const classifications = ["VALID_PASS", "VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"] as const;
export type Classification = (typeof classifications)[number];

export const runStatuses = [
  "queued",
  "running",
  "passed",
  "failed",
  "error",
  "cancelled",
  "timeout",
] as const;
export type RunStatus = (typeof runStatuses)[number];

/** `error` is `CODE: message`. */
export type RunStep = { step: string; status: string; error?: string };

/** A run as its record has it. Times are ISO 8601 UTC. */
export type FinishedRun = {
  execution_id: string;
  kind: string;
  name: string;
  status: RunStatus;
  reason?: { code: string; message: string };
  device: string;
  userinterface?: string;
  started_at: string;
  verified_count: number;
  /** Of a run that was tried more than once, in order; the last decided. */
  attempts?: readonly { status: string; reason?: { code: string; message: string } | undefined }[];
  /** Those that did not pass are all among them. */
  steps: readonly RunStep[];
};

/** What a run failed with: two of one cause have the same `text`. */
export type Cause = {
  code: string;
  /** Code and message without what differs from run to run. */
  text: string;
  /** Where it failed. */
  step: string;
  /** Whose fault it is where the code alone says so. */
  fault?: "lab" | "test";
};

/** Another run. A failure without `cause` is one whose record was not read. */
export type OtherRun = {
  execution_id: string;
  name: string;
  status: RunStatus;
  device: string;
  userinterface?: string;
  started_at: string;
  cause?: Cause;
  /** It passed, and an attempt before did not by no fault of the lab. */
  flaky?: boolean;
  /** What it was judged to be. */
  classification?: Classification;
};

/** `build`: whether it ran on the build of the run that is judged. */
export type PastRun = OtherRun & { build: "same" | "other" | "unknown" };

export type Facts = {
  run: FinishedRun;
  /** Finished runs of the same test, in any order, without `run`. */
  history: readonly PastRun[];
  /** Runs that finished about the same time, of any test, without `run`. */
  others: readonly OtherRun[];
};

/** `evidence` names steps, runs by their id, and the figures that were reckoned with. */
export type Judgement =
  | {
      decided: true;
      classification: Classification;
      /** 0..1 */
      confidence: number;
      summary: string;
      evidence: readonly string[];
      /** Undefined where this run says nothing of it. */
      flaky: boolean | undefined;
      /** Ids of other runs that failed of the same cause. */
      members?: readonly string[];
    }
  | { decided: false; summary: string; evidence: readonly string[]; reruns_wanted?: number };
