import { trace } from "@opentelemetry/api";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { createLog, type LogDestination, type Logger } from "./log.ts";
import { span, withTraceparent } from "./span.ts";

export type { LogDestination, Logger } from "./log.ts";
export { currentTraceId, parseTraceparent, span, traceparent, withTraceparent } from "./span.ts";

export type Observability = {
  log: Logger;
  call(record: CallRecord): void;
  span: typeof span;
  observer: {
    /** Runs a call as a span below `traceparent`, or as the first of a new trace whose id it is given. */
    trace<T>(name: string, traceparent: string | undefined, run: (traceId: string) => Promise<T>): Promise<T>;
    record(record: CallRecord): void;
    /** A fault of ours: only the log gets its stack. */
    fault(error: unknown, where: { tool: string; trace_id: string }): void;
  };
  /** A figure that is read when someone asks for the metrics. A name may be given once. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  metrics(): Promise<string>;
  metricsContentType: string;
  /** Sends the spans that are left and closes the log; within a few seconds even when the collector is gone. */
  close(): Promise<void>;
};

/** Logs, metrics and spans of one process. Spans are sent only with `env.OTEL_EXPORTER_OTLP_ENDPOINT`. `mask` hides secrets. */
export async function createObservability(options: {
  level: string;
  destination: LogDestination;
  mask: (text: string) => string;
  env: Readonly<Record<string, string | undefined>>;
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

/** One tool call as it ended. `outcome` is `ok` or the error's code; an unknown tool is `unknown`. */
export type CallRecord = {
  tool: string;
  trace_id: string;
  client: string;
  principal: string;
  effect?: string | undefined;
  device_id?: string | undefined;
  session_id?: string | undefined;
  execution_id?: string | undefined;
  duration_ms: number;
  outcome: string;
};

/** Seconds; from an answer out of memory to a test case that runs for minutes. */
const buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: "labwright_calls_total",
    help: "Tool calls by tool and outcome (ok or an error code).",
    labelNames: ["tool", "outcome"],
    registers,
  });
  const errors = new Counter({
    name: "labwright_errors_total",
    help: "Failed tool calls by error code.",
    labelNames: ["code"],
    registers,
  });
  const durations = new Histogram({
    name: "labwright_call_duration_seconds",
    help: "Duration of tool calls.",
    labelNames: ["tool"],
    buckets,
    registers,
  });
  return {
    count(record: CallRecord): void {
      // An unknown name comes from the caller: it must not become a label.
      const tool = record.outcome === "TOOL_NOT_FOUND" ? "unknown" : record.tool;
      calls.inc({ tool, outcome: record.outcome });
      if (record.outcome !== "ok") errors.inc({ code: record.outcome });
      durations.observe({ tool }, record.duration_ms / 1_000);
    },
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          // One figure that cannot be read must not take the others with it.
          this.set(
            await Promise.resolve()
              .then(read)
              .catch(() => Number.NaN),
          );
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

export type SpanExport = { close(): Promise<void> };

/** A collector that does not answer must not hold up the end of the process. */
const closeMs = 2_000;

/** Loads the SDK only now: without an endpoint it is not needed. `endpoint` is the base URL, as the standard says. */
async function startSpanExport(endpoint: string, service: Record<string, string>): Promise<SpanExport> {
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
    timeoutMillis: 5_000,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes(service),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000 })],
  });
  trace.setGlobalTracerProvider(provider);
  return {
    async close() {
      trace.disable();
      await provider.forceFlush({ timeoutMillis: closeMs }).catch(() => {});
      await Promise.race([provider.shutdown(), deadline(closeMs)]).catch(() => {});
    },
  };
}

const deadline = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
