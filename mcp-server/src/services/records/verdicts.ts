import type { CodeFacts } from "@labwright/controllers";
import type { FinalStatus } from "../../domain/index.ts";
import { findErrorFacts } from "../../errors.ts";

/**
 * What a code says of the run that met it, by what the code stops (`errors.ts`). Every verdict is found by it.
 * - `behaviour`: what is tested did not do what the test asked for, while it answered. Without an edge for failure the
 *   test is `failed`.
 * - `environment`: the app, the page or the machine could not be judged. An edge for failure may catch it (to wait for a
 *   server to come up); without one the test is `error`.
 * - `broken`: the device, the lease, the store or the test itself is at fault. The run ends with `error`, whatever
 *   edges there are. A code that is none of ours is of this class.
 */
export type FailureClass = "behaviour" | "environment" | "broken";

const stopsOf = (code: string): CodeFacts["stops"] => findErrorFacts(code)?.stops ?? "both";

/** Whether no later look of a check can get better. */
export const stopsPolling = (code: string): boolean => ["poll", "both"].includes(stopsOf(code));

/** Whether no other way to the target can help. */
export const stopsWalking = (code: string): boolean => ["walk", "both"].includes(stopsOf(code));

export function classOf(code: string): FailureClass {
  if (!stopsWalking(code)) return "behaviour";
  return stopsPolling(code) ? "broken" : "environment";
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
  "PAGE_LOST",
  "PAGE_UNRESPONSIVE",
]);
export const waitedInVain = (code: string): boolean => ofWaiting.has(code);
