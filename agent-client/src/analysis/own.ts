import { causeOf } from "./cause.ts";
import type { Cause, Facts, PastRun } from "./types.ts";

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
    .map((past) => ({
      execution_id: past.execution_id,
      build: past.build,
      started_at: past.started_at,
      passed: past.status === "passed",
      ...(past.cause && { cause: past.cause }),
    }));
  const cause = causeOf(run);
  const itself = {
    execution_id: run.execution_id,
    build: "same" as const,
    started_at: run.started_at,
    passed: run.status === "passed",
    ...(cause && { cause }),
  };
  return [...own, itself].sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));
}

function isOwn({ status, cause, classification }: PastRun, withoutRight: boolean): boolean {
  if (!verdicts.has(status)) return false;
  if (status === "passed") return true;
  if (cause?.fault !== undefined || classification === "SYSTEM_ISSUE") return false;
  return !(withoutRight && classification !== undefined && rightly.has(classification));
}
