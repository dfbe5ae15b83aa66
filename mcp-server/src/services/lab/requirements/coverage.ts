import type { Coverage, ExecutionStatus } from "../../../domain/index.ts";
import type { CoverageParts, CoverageVerdict } from "./types.ts";

/** A link and the status of the last run of its test case; none: it has not run. */
export type LinkedRun = { coverage: Coverage; status?: ExecutionStatus | undefined };

export type Outcome = "passed" | "failed" | "not_run";

const outcomes: Readonly<Record<ExecutionStatus, Outcome>> = {
  passed: "passed",
  failed: "failed",
  error: "failed",
  timeout: "failed",
  cancelled: "not_run",
  queued: "not_run",
  running: "not_run",
};

export const outcomeOf = ({ status }: LinkedRun): Outcome =>
  status === undefined ? "not_run" : outcomes[status];

/** Each link counts once by its coverage and once by its last run. */
export function partsOf(links: readonly LinkedRun[]): CoverageParts {
  const parts = { full: 0, partial: 0, passed: 0, failed: 0, not_run: 0 };
  for (const link of links) {
    parts[link.coverage] += 1;
    parts[outcomeOf(link)] += 1;
  }
  return parts;
}

/** The verdict on a requirement. One failed run outweighs all, and one missing run every pass. */
export function verdictOf({ full, partial, failed, not_run }: CoverageParts): CoverageVerdict {
  if (full + partial === 0) return "uncovered";
  if (failed > 0) return "failed";
  if (not_run > 0) return "not_run";
  return full > 0 ? "passed" : "partial";
}
