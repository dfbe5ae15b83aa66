import { createLog, type LogDestination, type Logger } from "./log.ts";
import { type CallRecord, createMetrics } from "./metrics.ts";
import { startSpanExport } from "./otlp.ts";
import { span, withTraceparent } from "./span.ts";

export type Observability = {
  log: Logger;
  /** Logs one line and counts the call. */
  call(record: CallRecord): void;
  span: typeof span;
  /** What `callTool` reports to. */
  observer: {
    /** Runs a call as a span below `traceparent`, or as the first of a new trace whose id it is given. */
    trace<T>(name: string, traceparent: string | undefined, run: (traceId: string) => Promise<T>): Promise<T>;
    record(record: CallRecord): void;
    /** A fault of ours: the log gets its stack, nobody else does. */
    fault(error: unknown, where: { tool: string; trace_id: string }): void;
  };
  /** A figure that is read when someone asks for the metrics. A name may be given once. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Prometheus' text format. */
  metrics(): Promise<string>;
  metricsContentType: string;
  /** Sends the spans that are left and closes the log; within a few seconds even when the collector is gone. */
  close(): Promise<void>;
};

/**
 * Logs, metrics and spans of one process. Spans are sent only when `env.OTEL_EXPORTER_OTLP_ENDPOINT` is set. `mask` hides
 * secrets; it goes over every line and every span attribute is the caller's to keep clean.
 */
export async function createObservability(options: {
  level: string;
  destination: LogDestination;
  mask: (text: string) => string;
  env: Readonly<Record<string, string | undefined>>;
  /** Names this process in traces. */
  service?: Record<string, string>;
}): Promise<Observability> {
  const { log, close } = createLog(options);
  const metrics = createMetrics();
  const endpoint = options.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const service = { "service.name": options.env.OTEL_SERVICE_NAME ?? "labwright", ...options.service };
  const spans = endpoint ? await startSpanExport(endpoint, service) : undefined;
  const call = (record: CallRecord) => {
    metrics.count(record);
    if (record.outcome === "ok") log.info(record, "call");
    else log.warn(record, "call");
  };
  return {
    log,
    call,
    span,
    observer: {
      trace: (name, traceparent, run) =>
        withTraceparent(traceparent, () =>
          span(`call ${name}`, { "labwright.tool": name }, (current) => run(current.spanContext().traceId)),
        ),
      record: call,
      fault: (error, where) => log.error({ ...where, err: error }, "fault"),
    },
    gauge: metrics.gauge,
    metrics: metrics.text,
    metricsContentType: metrics.contentType,
    async close() {
      await spans?.close();
      close();
    },
  };
}
