export type { LogDestination, Logger } from "./log.ts";
export type { CallRecord } from "./metrics.ts";
export { createObservability, type Observability } from "./observability.ts";
export { currentTraceId, parseTraceparent, span, traceparent, withTraceparent } from "./span.ts";
