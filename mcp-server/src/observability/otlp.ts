import { trace } from "@opentelemetry/api";

/** Sends the process's spans to an OTLP collector over HTTP until it is closed; what is left is sent on close. */
export type SpanExport = { close(): Promise<void> };

/** A collector that does not answer must not hold up the end of the process. */
const closeMs = 2_000;

/** Loads the SDK only now: without an endpoint nobody pays for it. `endpoint` is the base URL, as the standard says. */
export async function startSpanExport(
  endpoint: string,
  service: Record<string, string>,
): Promise<SpanExport> {
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
