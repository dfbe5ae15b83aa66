import type { ExecutionStatus } from "../../domain/index.ts";
import type { RunRecord } from "../../storage/index.ts";
import { type Cause, causeOf } from "./cause.ts";
import { faultOf } from "./faults.ts";
import type { Facts } from "./types.ts";

/** A run that tells something of its test: neither stopped, nor failed by the lab or by a wrong request. */
export type OwnRun = Pick<RunRecord, "id" | "build" | "started_at"> & {
  passed: boolean;
  cause: Cause | undefined;
  /** A failure that somebody judged to be right. */
  isRight: boolean;
};

/** The run and those of its history that tell something of the test, oldest first. */
export const ownRuns = ({ run, history }: Facts): OwnRun[] =>
  [...history.filter(tellsOfTest), run]
    .flatMap(attemptsOf)
    .sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));

/** It passed, and an earlier attempt failed, though not by the lab. */
export const isFlaky = ({ status, attempts = [] }: RunRecord): boolean =>
  status === "passed" &&
  attempts.some(
    (attempt) =>
      attempt.status !== "passed" &&
      faultOf(attempt.reason?.code ?? "", attempt.reason?.message ?? "") !== "lab",
  );

const failures: ReadonlySet<ExecutionStatus> = new Set(["failed", "error", "timeout"]);
export const isFailure = ({ status }: RunRecord): boolean => failures.has(status);

function tellsOfTest(past: RunRecord): boolean {
  if (past.status === "passed") return true;
  return isFailure(past) && past.classification !== "SYSTEM_ISSUE" && causeOf(past)?.fault === undefined;
}

/** A pass that needed another attempt counts as a failure and a pass. */
function attemptsOf(run: RunRecord): OwnRun[] {
  const { id, build, started_at, status, classification } = run;
  const own = {
    ...{ id, started_at, ...(build !== undefined && { build }) },
    passed: status === "passed",
    cause: causeOf(run),
    isRight: classification === "BUG" || classification === "VALID_FAIL",
  };
  return isFlaky(run) ? [{ ...own, passed: false }, own] : [own];
}
