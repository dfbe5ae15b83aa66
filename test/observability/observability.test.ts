import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as tick } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { z } from "zod";
import {
  type CallRecord,
  createObservability,
  currentTraceId,
  type LogDestination,
  parseTraceparent,
  span,
  traceparent,
  withTraceparent,
} from "#mcp-server/observability/index.ts";
import { createLog } from "#mcp-server/observability/log.ts";
import { scrub } from "#mcp-server/observability/scrub.ts";
import { createSecrets } from "#mcp-server/services/policy/secrets.ts";
import { listenOnLoopback } from "../fixtures/loopback.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-observability-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secrets = createSecrets({}, { LABWRIGHT_SECRET_PIN: 'hunter2 "quoted"' });

const record: CallRecord = {
  tool: "take_control",
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
  client: "bridge-1",
  principal: "owner",
  device_id: "lab/browser",
  session_id: "s-1",
  execution_id: "x-1",
  duration_ms: 120,
  outcome: "ok",
};

async function observe(options: { env?: Record<string, string>; destination?: LogDestination } = {}) {
  const lines: string[] = [];
  const observability = await createObservability({
    level: "info",
    destination: options.destination ?? { write: (line) => void lines.push(line) },
    mask: secrets.mask,
    env: options.env ?? {},
  });
  const parsed = () => lines.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
  return { observability, lines, parsed };
}

describe("the log", () => {
  it("has one line for each call, with everything one asks for afterwards", async () => {
    const { observability, parsed } = await observe();
    observability.call(record);
    observability.call({ ...record, outcome: "DEVICE_HELD" });
    expect(parsed()).toEqual([
      { level: "info", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), msg: "call", ...record },
      { level: "warn", time: expect.any(String), msg: "call", ...record, outcome: "DEVICE_HELD" },
    ]);
  });

  it("hides secrets wherever they stand, free text, errors and escapes included", async () => {
    const { observability, lines } = await observe();
    const { log } = observability;
    log.info('typed hunter2 "quoted" into the field');
    log.info({ deep: [{ note: 'x hunter2 "quoted" y' }] });
    log.error({ err: new Error('no hunter2 "quoted" here') }, "failed");
    log.info({ url: `https://x/?p=${encodeURIComponent('hunter2 "quoted"')}` });
    observability.observer.fault(new Error('fault hunter2 "quoted"'), { tool: "t", trace_id: "1" });
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      expect(line).not.toContain("hunter2");
      expect(line).toContain("[secret PIN]");
      expect(() => JSON.parse(line)).not.toThrow();
    }
  });

  it("hides what looks like a key in any text, without being reported", async () => {
    const { observability, lines } = await observe();
    const jwt = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`;
    observability.log.info(`key sk-ant-api03-abcdefgh and Bearer abc.def-ghi_jkl and ${jwt}`);
    expect(lines.join("")).not.toMatch(/api03|abc\.def|bbbb|cccc/);
    expect(() => JSON.parse(lines[0] ?? "")).not.toThrow();
  });

  it("names the trace a line belongs to", async () => {
    const { observability, parsed } = await observe();
    const id = await span("call", {}, async (current) => {
      observability.log.info("inside");
      return current.spanContext().traceId;
    });
    expect(parsed()[0]).toMatchObject({ msg: "inside", trace_id: id });
  });

  it("goes to a file only its owner reads, which is moved aside once it has grown", async () => {
    const file = join(folder, "logs", "daemon.log");
    const write = async (text: string) => {
      const { observability } = await observe({ destination: { file } });
      observability.log.info(text);
      await observability.close();
    };
    await write("first");
    await write("second");
    expect(readFileSync(file, "utf8")).toMatch(/first[\s\S]*second/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    truncateSync(file, 10_000_001);
    await write("third");
    expect(readFileSync(file, "utf8")).toMatch(/^\{.*third/);
    expect(statSync(`${file}.1`).size).toBe(10_000_001);
  });
});

it.each([
  ["sk-ant-REDACTED", "sk-ant"],
  ["ghp_abcdefghijklmnopqrstuvwxyz012345", "ghp_"],
  ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNl"],
  ["postgresql://me:s3cret@db/x", "s3cret"],
  ['{"authorization":"Bearer abcdefghijkl"}', "abcdefghijkl"],
])("scrubs %s", (text, gone) => {
  expect(scrub(text)).not.toContain(gone);
  expect(scrub(text)).toContain("[redacted]");
});

it.each([
  "a basic idea of things",
  "http://localhost:3000/a@b",
  "eyJust a word",
  "task-anthology",
])("leaves %s alone", (text) => {
  expect(scrub(text)).toBe(text);
});

describe("the metrics", () => {
  it("count calls, errors by code and durations, and read the gauges when asked", async () => {
    const { observability } = await observe();
    let browsers = 1;
    observability.gauge("labwright_browsers", "Open browsers.", () => browsers);
    observability.gauge("labwright_leases", "Leases.", async () => 4);
    observability.call(record);
    observability.call({ ...record, outcome: "DEVICE_HELD" });
    browsers = 3;
    const text = await observability.metrics();
    expect(text).toContain('labwright_calls_total{tool="take_control",outcome="ok"} 1');
    expect(text).toContain('labwright_errors_total{code="DEVICE_HELD"} 1');
    expect(text).toContain('labwright_call_duration_seconds_count{tool="take_control"} 2');
    expect(text).toContain('labwright_call_duration_seconds_bucket{le="0.25",tool="take_control"} 2');
    expect(text).toContain("labwright_browsers 3");
    expect(text).toContain("labwright_leases 4");
  });

  it("do not grow with the names that callers make up", async () => {
    const { observability } = await observe();
    for (let i = 0; i < 50; i++)
      observability.call({ ...record, tool: `made_up_${i}`, outcome: "TOOL_NOT_FOUND" });
    const text = await observability.metrics();
    expect(text).not.toContain("made_up");
    expect(text).toContain('labwright_calls_total{tool="unknown",outcome="TOOL_NOT_FOUND"} 50');
  });

  it("are still given when a gauge cannot be read", async () => {
    const { observability } = await observe();
    observability.gauge("labwright_broken", "Broken.", () => Promise.reject(new Error("no database")));
    observability.call(record);
    expect(await observability.metrics()).toContain("labwright_calls_total");
  });
});

const attributeSchema = z.object({
  key: z.string(),
  value: z.looseObject({ stringValue: z.string().optional() }),
});
const spanSchema = z.object({
  name: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  attributes: z.array(attributeSchema),
  status: z.looseObject({ code: z.number().optional(), message: z.string().optional() }),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attributeSchema) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

/** Takes what an OTLP exporter sends over HTTP, as a collector does. */
async function collector() {
  const received: z.output<typeof exportSchema>[] = [];
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      paths.push(request.url ?? "");
      received.push(exportSchema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  return {
    endpoint: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    paths,
    spans: () =>
      received
        .flatMap((r) => r.resourceSpans)
        .flatMap((r) => r.scopeSpans)
        .flatMap((s) => s.spans),
    resources: () => received.flatMap((r) => r.resourceSpans).flatMap((r) => r.resource.attributes),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe("a process of its own", () => {
  const script = join(folder, "log.mjs");
  beforeAll(async () => {
    await build({
      stdin: {
        contents: `import { createObservability } from "./mcp-server/src/observability/index.ts";
          const o = await createObservability({ level: "info", destination: "stderr", mask: (t) => t, env: process.env });
          await o.span("work", {}, async () => o.log.info("to stderr"));
          await o.close();`,
        resolveDir: process.cwd(),
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: script,
      conditions: ["labwright"],
      // Not found from where the script runs: loading any of them ends it.
      external: [
        "@opentelemetry/sdk-trace",
        "@opentelemetry/exporter-trace-otlp-http",
        "@opentelemetry/resources",
      ],
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
  });
  const start = (env: Record<string, string>) =>
    spawnSync(process.execPath, [script], { encoding: "utf8", env });

  it("logs to stderr, leaves stdout to the protocol and loads nothing that sends spans", () => {
    const { stdout, stderr, status } = start({});
    expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
    expect(stderr).toContain("to stderr");
  });

  it("loads what sends spans once there is an endpoint", () => {
    const { stderr, status } = start({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    expect(status).not.toBe(0);
    expect(stderr).toContain("Cannot find package '@opentelemetry/");
  });
});

describe("the spans", () => {
  it("reach a collector under the caller's trace id, parents and codes included, and no one afterwards", async () => {
    const sink = await collector();
    const { observability } = await observe({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${sink.endpoint}/` } });
    const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const { observer } = observability;
    const handed = await observer.trace("take_control", caller, async (traceId) => {
      expect(traceId).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
      await span("service", { device: "lab/browser" }, async () => {});
      const failing = span("command", {}, () =>
        Promise.reject(Object.assign(new Error("with a secret"), { code: "ELEMENT_NOT_FOUND" })),
      );
      await failing.catch(() => {});
      return traceparent();
    });
    await observability.close();
    await sink.close();

    expect(new Set(sink.paths)).toEqual(new Set(["/v1/traces"]));
    const [service, command, call] = ["service", "command", "call take_control"].map((name) =>
      sink.spans().find((s) => s.name === name),
    );
    expect(new Set([service, command, call].map((s) => s?.traceId))).toEqual(
      new Set(["4bf92f3577b34da6a3ce929d0e0e4736"]),
    );
    expect(call?.parentSpanId).toBe("00f067aa0ba902b7");
    expect(handed).toBe(`00-4bf92f3577b34da6a3ce929d0e0e4736-${call?.spanId}-01`);
    expect([service?.parentSpanId, command?.parentSpanId]).toEqual([call?.spanId, call?.spanId]);
    expect(service?.attributes).toEqual([{ key: "device", value: { stringValue: "lab/browser" } }]);
    expect(command?.status).toMatchObject({ code: 2, message: "ELEMENT_NOT_FOUND" });
    expect(JSON.stringify(sink.spans())).not.toContain("with a secret");
    expect(sink.resources()).toContainEqual({ key: "service.name", value: { stringValue: "labwright" } });
  });

  it("do not hold up the end of the process when the collector is gone", async () => {
    const sink = await collector();
    await sink.close();
    const { observability } = await observe({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint } });
    await observability.span("lost", {}, async () => {});
    await expect(observability.close()).resolves.toBeUndefined();
  });
});

const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("starts a trace when there is none and keeps it below, over awaits, apart from others", async () => {
  const seen = await Promise.all(
    [1, 2, 3].map(() =>
      span("outer", {}, async (current) => {
        await tick();
        const inner = await span("inner", {}, async () => {
          await tick();
          return currentTraceId();
        });
        expect(inner).toBe(current.spanContext().traceId);
        return inner;
      }),
    ),
  );
  expect(new Set(seen).size).toBe(3);
  for (const id of seen) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(currentTraceId()).toBeUndefined();
  expect(traceparent()).toBeUndefined();
});

it("goes on with the trace of a traceparent and hands it on", async () => {
  const handed = await withTraceparent(given, () => span("call", {}, async () => traceparent()));
  expect(handed).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-0[01]$/);
});

it.each([
  undefined,
  "",
  "00-zz-1-01",
  `${given}-more`,
  given.replace(/^00/, "ff"),
  `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
])("takes %s for no traceparent", async (header) => {
  expect(parseTraceparent(header ?? "")).toBeUndefined();
  const id = await withTraceparent(header, () => span("call", {}, async () => currentTraceId()));
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(id).not.toContain("4bf92f");
});

it("reads a traceparent of a later version that has more fields", () => {
  expect(parseTraceparent(`${given.replace(/^00/, "01")}-more`)?.traceId).toBe(
    "4bf92f3577b34da6a3ce929d0e0e4736",
  );
});

it("passes results and errors through", async () => {
  await expect(span("a", {}, async () => 7)).resolves.toBe(7);
  await expect(span("a", {}, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
});

const logTo = (file: string) => createLog({ level: "info", destination: { file }, mask: (text) => text });

test("a log file stays bounded while it is written, keeps the lines before the last ones, and its place", () => {
  const file = join(folder, "bounded.log");
  const { log, close } = logTo(file);
  log.info("first");
  const { ino } = statSync(file);
  const filler = "x".repeat(1_000_000);
  for (let at = 0; at < 25; at++) log.info({ at, filler }, "filler");
  log.info("last");
  close();
  const sizes = [file, `${file}.1`].map((name) => statSync(name).size);
  for (const size of sizes) expect(size).toBeLessThan(12_000_000);
  expect(readFileSync(file, "utf8")).toMatch(/"msg":"last"\}\n$/);
  const kept = (readFileSync(`${file}.1`, "utf8") + readFileSync(file, "utf8")).match(/"at":\d+/g) ?? [];
  expect(kept.length, "what is newest, without a gap").toBeGreaterThanOrEqual(10);
  expect(kept).toEqual(Array.from(kept, (_, index) => `"at":${25 - kept.length + index}`));
  expect(statSync(file).ino, "whoever holds it open goes on writing to it").toBe(ino);
});

test("a log that cannot be written, or is closed, ends no one", () => {
  const { log, close } = logTo("/dev/full");
  expect(() => log.info("no room")).not.toThrow();
  close();
  close();
  expect(() => log.info("too late")).not.toThrow();
});
