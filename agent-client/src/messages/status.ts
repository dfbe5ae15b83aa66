import { z } from "zod";

/** How a case or a whole request ended, from best to worst. `BLOCKED`: it could not start (dependency, login, environment). */
const ranking = [
  "PASSED",
  "NOT_RUN",
  "FAILED",
  "BLOCKED",
  "ERROR",
  "TIMEOUT",
  "BUDGET_EXCEEDED",
  "CANCELLED",
] as const;

export const statusCodeSchema = z.enum(ranking);
export type StatusCode = z.output<typeof statusCodeSchema>;

/** The worst of the parts: one that did not run keeps the whole from PASSED. A whole without parts did not run. Pure. */
export function worstOf(parts: readonly StatusCode[]): StatusCode {
  if (parts.length === 0) return "NOT_RUN";
  return ranking[Math.max(...parts.map((part) => ranking.indexOf(part)))] ?? "ERROR";
}

/** Errors of a run that never began: what it needs was not there. */
const blocking: ReadonlySet<string> = new Set([
  "APP_NOT_INSTALLED",
  "APP_UNREACHABLE",
  "AUTH_EXPIRED",
  "BROWSER_NOT_FOUND",
  "BROWSER_UNUSABLE",
  "CONTROLLER_UNAVAILABLE",
  "DEVICE_BUSY",
  "DEVICE_HELD",
  "DEVICE_LOST",
  "DEVICE_NOT_COPIED",
  "DEVICE_NOT_FOUND",
  "DEVICE_OFFLINE",
  "ENVIRONMENT_MISMATCH",
  "ENVIRONMENT_SLOW",
  "POLICY_DENIED",
  "SECRET_NOT_FOUND",
  "SERVER_UNREACHABLE",
  "URL_DENIED",
]);

/** The code of a run by the verdict of its execution and, for an error, its reason. Pure. */
export function statusOf(verdict: string, reason?: string): StatusCode {
  const status = statusCodeSchema.safeParse(verdict.toUpperCase()).data ?? "NOT_RUN";
  return status === "ERROR" && reason !== undefined && blocking.has(reason) ? "BLOCKED" : status;
}

/** As `labwright run` has them: 0 passed, 1 failed, 2 not judged (every other code), 130 cancelled. */
export function exitCodeFor(status: StatusCode): 0 | 1 | 2 | 130 {
  if (status === "PASSED") return 0;
  if (status === "FAILED") return 1;
  return status === "CANCELLED" ? 130 : 2;
}
