/** The trace id of a W3C traceparent header, if it is one. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const match = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? "");
  return match?.[1] === "0".repeat(32) ? undefined : match?.[1];
}
