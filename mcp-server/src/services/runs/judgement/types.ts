import type { Classification } from "../../../domain/index.ts";
import type { RunRecord } from "../../../storage/index.ts";

/** What a run is judged by. Neither list has the run itself. */
export type Facts = {
  run: RunRecord;
  /** Finished runs of the same test, newest first. */
  history: readonly RunRecord[];
  /** Tests that ran about the same time, on the run's device or app. */
  others: readonly RunRecord[];
};

/** `evidence` names steps, runs by their id, and the figures behind the confidence. */
export type Decided = {
  decided: true;
  classification: Classification;
  /** 0..1 */
  confidence: number;
  summary: string;
  evidence: string[];
  /** Undefined where this run says nothing of it. */
  flaky?: boolean | undefined;
  /** Ids of other runs that failed for the same cause and that nobody has judged: the judgement holds for them too. */
  members?: string[];
};

/** The record does not show it: a model or a person must look, or the test must run again. */
export type Undecided = {
  decided: false;
  summary: string;
  evidence: string[];
  /** So many reruns would decide it. */
  reruns_wanted?: number;
};

export type Judgement = Decided | Undecided;
