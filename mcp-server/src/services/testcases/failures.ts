/**
 * What a code says of a test that met it.
 * - `behaviour`: what is tested did not do what the test asked for. The block failed; without an edge for failure the
 *   test is `failed`.
 * - `environment`: something around it did not answer. An edge for failure may catch it (to wait for a server to come
 *   up); without one the test is `error`.
 * - `broken`: the device, the lease, the store or the test itself is at fault. The run ends with `error`, whatever
 *   edges there are.
 */
export type FailureClass = "behaviour" | "environment" | "broken";

const environment: ReadonlySet<string> = new Set([
  "CONNECTION_REFUSED",
  "DEVICE_ERROR",
  "INVALID_RESPONSE",
  "MAX_RETRIES_EXCEEDED",
  "NAVIGATION_FAILED",
  "REQUEST_TIMEOUT",
]);

/** What a device or an app does when a test asks for what is not there. Every other code is `broken`. */
const behaviour: ReadonlySet<string> = new Set([
  "ACTION_REJECTED",
  "COMMAND_TIMEOUT",
  "ELEMENT_AMBIGUOUS",
  "ELEMENT_NOT_ACTIONABLE",
  "ELEMENT_NOT_FOUND",
  "NO_DIALOG",
  "STALE_REF",
  "TAB_NOT_FOUND",
  "VERIFICATION_FAILED",
  "VERIFICATION_TIMEOUT",
]);

export function classOf(code: string): FailureClass {
  if (environment.has(code)) return "environment";
  return behaviour.has(code) ? "behaviour" : "broken";
}

/** A navigation that ended elsewhere than it should is the app's behaviour, also when no way was left. */
export function classOfNavigation(code: string): FailureClass {
  return code === "NAVIGATION_FAILED" || code === "NO_PATH" ? "behaviour" : classOf(code);
}
