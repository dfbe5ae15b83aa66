import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { type Bench, productBench } from "../fixtures/daemon.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

/** Processes start here, on a machine that may do much else. */
const timeout = 240_000;

let product: Product;
let client: TestClient;
/** One whose daemon is started by hand, one whose bridge starts it. */
let bench: Bench;
let bridged: Bench;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  bench = productBench();
  bridged = productBench();
}, timeout);
afterAll(async () => {
  await product.dispose();
  await Promise.all([bench.end(), bridged.end()]);
}, timeout);

const servicesOf = ({ structured }: Reply) =>
  z.object({ services: z.array(z.looseObject({ name: z.string() })) }).parse(structured).services;

test("list_services says what runs in this process, each part for itself", async () => {
  await client.call("take_control", { device_id: "box" });
  const services = servicesOf(await client.call("list_services"));
  expect(services).toMatchObject([
    { name: "daemon", state: "running", facts: { pid: process.pid } },
    { name: "endpoint", state: "absent" },
    { name: "clients", state: "absent" },
    { name: "database", state: "running", facts: { engine: "pglite", size_mb: expect.any(Number) } },
    { name: "devices", state: "running", facts: { open: 1, configured: 1, leases: 1 } },
    { name: "executions", state: "idle" },
    { name: "log", state: "absent" },
  ]);
});

test("list_services goes on when a part fails: that one says why, the others what they are", async () => {
  const broken = vi.spyOn(product.services.devices, "leases").mockRejectedValue(new Error("no leases here"));
  const services = servicesOf(await client.call("list_services"));
  broken.mockRestore();
  const states = Object.fromEntries(services.map(({ name, state }) => [name, state]));
  expect(states).toMatchObject({
    daemon: "running",
    database: "running",
    devices: "failed",
    executions: "idle",
  });
  expect(services.find(({ name }) => name === "devices")).toMatchObject({ reason: "no leases here" });
});

test("view_logs refuses what it does not know", async () => {
  for (const args of [{ since: "monday" }, { level: "loud" }, { service: "nginx" }, { lines: 5 }])
    expect((await client.call("view_logs", args)).error).toMatchObject({ code: "INVALID_INPUT" });
  expect((await client.call("view_logs")).structured).toEqual({ shown: 0, lines: "" });
});

test(
  "view_logs reads a real daemon's own log, however it was started, and hides what was planted in it",
  async () => {
    const log = join(bench.dataDir, "logs", "daemon.log");
    vi.stubEnv("LABWRIGHT_SECRET_PLANTED", "kept for one");
    const pid = await bench.startDaemon(["--port", "0"]);
    vi.unstubAllEnvs();
    const host = await bench.host();
    const failed = await host.call("load_testcase", { testcase: "nobody" });
    expect(failed.isError).toBe(true);
    const planted = {
      level: "error",
      time: new Date().toISOString(),
      msg: "planted",
      typed: "kept for one",
      token: "sk-ant-api03-abcdefgh12345678",
      url: "postgres://me:pa55word@db/x",
    };
    appendFileSync(log, `${JSON.stringify(planted)}\nSegmentation fault\n`);
    const { structured, text } = await host.call("view_logs", { max_tokens: 1_000 });
    expect(structured).toMatchObject({ malformed: 1 });
    expect(String(structured.lines).split("\n")[0]).toBe("? Segmentation fault");
    expect(text).toMatch(
      /error planted typed='\[secret PLANTED\]' token=\[redacted\] url=postgres:\/\/\[masked\]@db\/x/,
    );
    expect(text).not.toMatch(/kept for one|abcdefgh|pa55word/);
    expect(encode(JSON.stringify(structured)).length / encode(text).length).toBeLessThanOrEqual(1.3);
    const warned = await host.call("view_logs", { tool: "load_testcase", level: "warn" });
    expect(warned.structured).toMatchObject({
      shown: 1,
      lines: expect.stringContaining("outcome=TESTCASE_NOT_FOUND"),
    });
    const trace = /trace_id=(\w{32})/.exec(warned.text)?.[1];
    expect((await host.call("view_logs", { trace_id: trace })).structured).toMatchObject({ shown: 1 });

    const services = servicesOf(await host.call("list_services"));
    expect(services).toMatchObject([
      { name: "daemon", facts: { pid, version: expect.any(String), build: bench.daemon()?.build.hash } },
      { name: "endpoint", facts: { host: "127.0.0.1", port: bench.daemon()?.port, tls: false } },
      { name: "clients", state: "running", facts: { bridges: 1 } },
      ...["database", "devices", "executions"].map((name) => ({ name })),
      { name: "log", state: "running" },
    ]);
    expect(readFileSync(log, "utf8")).toContain('"msg":"serving"');
  },
  timeout,
);

test(
  "a daemon that a bridge started logs each line once",
  async () => {
    const host = await bridged.host();
    await host.call("list_hosts");
    const { text, structured } = await host.call("view_logs", { tool: "list_hosts" });
    expect(structured, text).toMatchObject({ shown: 1 });
  },
  timeout,
);
