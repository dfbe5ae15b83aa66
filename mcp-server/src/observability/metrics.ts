import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** One tool call as it ended. `outcome` is `ok` or the error's code; a tool that nobody serves is `unknown`. */
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

/** Counts of calls and the gauges that others offer, in Prometheus' text format. */
export function createMetrics() {
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
      // A name that nobody serves comes from the caller: it must not become a label.
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
