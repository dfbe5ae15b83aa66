import { causeOf } from "./cause.ts";
import { faultOf } from "./faults.ts";
import type { Cause, Facts, FinishedRun, PastRun } from "./types.ts";

/** A run of the test that says something of the test: neither stopped, nor failed by what somebody else is to blame for. */
export type OwnRun = Pick<PastRun, "execution_id" | "build" | "started_at"> & {
  passed: boolean;
  cause?: Cause;
};

const verdicts: ReadonlySet<string> = new Set(["passed", "failed", "error", "timeout"]);
/** A failure that was judged to be right is none that the test is moody by; the lab's says nothing of the test at all. */
const rightly: ReadonlySet<string> = new Set(["BUG", "VALID_FAIL"]);

/** The run among those of its history that count, oldest first. `without`: failures that were judged to be right. */
export function ownRuns({ run, history }: Facts, given: { without?: "right failures" } = {}): OwnRun[] {
  const own = history
    .filter((past) => isOwn(past, given.without !== undefined))
    .flatMap((past) =>
      inTries(past.flaky, {
        execution_id: past.execution_id,
        build: past.build,
        started_at: past.started_at,
        passed: past.status === "passed",
        ...(past.cause && { cause: past.cause }),
      }),
    );
  const cause = causeOf(run);
  const itself = {
    execution_id: run.execution_id,
    build: "same" as const,
    started_at: run.started_at,
    passed: run.status === "passed",
    ...(cause && { cause }),
  };
  return [...own, ...inTries(isFlaky(run), itself)].sort(
    (a, b) => Date.parse(a.started_at) - Date.parse(b.started_at),
  );
}

/** A pass that needed another try stands for a failure and a pass. */
const inTries = (flaky: boolean | undefined, run: OwnRun): OwnRun[] =>
  flaky ? [{ ...run, passed: false }, run] : [run];

/** It passed, and an attempt before failed by no fault of the lab. */
export const isFlaky = ({ status, attempts = [] }: Pick<FinishedRun, "status" | "attempts">): boolean =>
  status === "passed" &&
  attempts.some(
    ({ status: ended, reason }) =>
      ended !== "passed" && faultOf(reason?.code ?? "", reason?.message ?? "") !== "lab",
  );

function isOwn({ status, cause, classification }: PastRun, withoutRight: boolean): boolean {
  if (!verdicts.has(status)) return false;
  if (status === "passed") return true;
  if (cause?.fault !== undefined || classification === "SYSTEM_ISSUE") return false;
  return !(withoutRight && classification !== undefined && rightly.has(classification));
}
