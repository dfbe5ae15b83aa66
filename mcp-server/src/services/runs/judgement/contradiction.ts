import type { Classification, ExecutionStatus } from "../../../domain/index.ts";

/**
 * Why a result with this verdict cannot be classified so; undefined when it can. A pass may be the fault of the test or
 * of the lab: then it is a false one.
 */
export function contradiction(classification: Classification, status: ExecutionStatus): string | undefined {
  if (classification === "VALID_PASS" && status !== "passed")
    return `VALID_PASS says that a pass is right, but the run ended ${status}.`;
  if (status === "passed" && (classification === "VALID_FAIL" || classification === "BUG"))
    return `${classification} explains why a run did not pass, but this one passed.`;
  return undefined;
}
