import type { FinalStatus } from "../../domain/index.ts";

/**
 * What a code says of the run that met it. This is the one list: every verdict is found by it.
 * - `behaviour`: what is tested did not do what the test asked for, while it answered. Without an edge for failure the
 *   test is `failed`.
 * - `environment`: the app, the page or the machine could not be judged. An edge for failure may catch it (to wait for a
 *   server to come up); without one the test is `error`.
 * - `broken`: the device, the lease, the store or the test itself is at fault. The run ends with `error`, whatever
 *   edges there are. Every code that is not listed is of this class.
 */
export type FailureClass = "behaviour" | "environment" | "broken";

const behaviour: ReadonlySet<string> = new Set([
  "ACTION_REJECTED",
  "COMMAND_TIMEOUT",
  "ELEMENT_AMBIGUOUS",
  "ELEMENT_NOT_ACTIONABLE",
  "ELEMENT_NOT_FOUND",
  "INPUT_NOT_TAKEN",
  "NAVIGATION_FAILED",
  "NO_DIALOG",
  "STALE_REF",
  "TAB_NOT_FOUND",
  "VERIFICATION_FAILED",
  "VERIFICATION_TIMEOUT",
]);

const environment: ReadonlySet<string> = new Set([
  "APP_UNREACHABLE",
  "CONNECTION_REFUSED",
  "DEVICE_ERROR",
  "ENVIRONMENT_SLOW",
  "INVALID_RESPONSE",
  "MAX_RETRIES_EXCEEDED",
  "PAGE_UNRESPONSIVE",
  "REQUEST_TIMEOUT",
]);

export function classOf(code: string): FailureClass {
  if (environment.has(code)) return "environment";
  return behaviour.has(code) ? "behaviour" : "broken";
}

/** `failed` is said of the app alone. */
export const verdictOfClass = (kind: FailureClass): FinalStatus & ("failed" | "error") =>
  kind === "behaviour" ? "failed" : "error";

export const verdictOf = (code: string): "failed" | "error" => verdictOfClass(classOf(code));

/** Failures that a slow machine, a busy page or an app that is down brings about too. */
const ofWaiting: ReadonlySet<string> = new Set([
  "COMMAND_TIMEOUT",
  "ELEMENT_NOT_ACTIONABLE",
  "ELEMENT_NOT_FOUND",
  "NAVIGATION_FAILED",
  "PAGE_UNRESPONSIVE",
]);
export const waitedInVain = (code: string): boolean => ofWaiting.has(code);
