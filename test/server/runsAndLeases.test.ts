import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { createApi } from "#mcp-server/api/index.ts";
import { callTool } from "#mcp-server/cli/daemon.ts";
import { createLog } from "#mcp-server/observability/log.ts";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { attach } from "#mcp-server/server/bridge/link.ts";
import { createCallTool } from "#mcp-server/server/call/callTool.ts";
import type { DaemonFile } from "#mcp-server/server/daemonFile.ts";
import { restPrincipal } from "#mcp-server/server/http/http.ts";
import { createAddresses } from "#mcp-server/server/page/addresses.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { callRows } from "#mcp-server/storage/index.ts";
import { tools } from "#mcp-server/tools/index.ts";
import type { TestClient } from "../fixtures/client.ts";
import { connectHttp, type HttpFixture, startHttp, testToken } from "../fixtures/http.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { silentObserver } from "../fixtures/silentObserver.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let http: HttpFixture;
let ann: TestClient;
let bob: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  // Every call of ann ends after a second.
  ann = await product.connect({ client: "ann", maxCallMs: 1_000 });
  bob = await product.connect({ client: "bob" });
  http = await serveDoors(product);
  mkdirSync(product.config.folders.scripts, { recursive: true });
  writeFileSync(join(product.config.folders.scripts, "long.sh"), "sleep 2\n");
  const slow = { command: "click_element", params: { selector: "Movies" }, wait_ms: 2_000 };
  const shows = (text: string) => ({ verifications: [{ command: "text_visible", params: { text } }] });
  const tv = { userinterface_name: "tv" };
  await made("save_testcase", { testcase: sleeping("long", 2_000) });
  await made("save_testcase", { testcase: sleeping("endless", 60_000) });
  await made("create_userinterface", { name: "tv", models: ["simulated"] });
  await made("create_node", { ...tv, label: "Home", type: "entry", ...shows("Welcome home") });
  await made("create_node", { ...tv, label: "Movies", ...shows("All movies") });
  await made("create_edge", { ...tv, source: "Home", target: "Movies", action_sets: [{ actions: [slow] }] });
});
const made = async (tool: string, args: Record<string, unknown>) =>
  expect((await bob.call(tool, args)).error).toBeUndefined();
afterAll(async () => {
  await http.end();
  await product.dispose();
});
async function serveDoors({ services, events, artifacts, storage, memory }: Product): Promise<HttpFixture> {
  const registry = createRegistry(tools);
  const calls = callRows(storage.db);
  const callTool = createCallTool({ registry, services, observe: silentObserver, calls, clock: systemClock });
  const own = {
    callTool,
    registry,
    events,
    artifacts,
    memory,
    live: services.live,
    apps: services.userinterfaces,
    reports: services.reports,
    addresses: createAddresses(systemClock, () => 0),
    investigations: services.investigations,
    audit: calls.recent,
    principalOf: restPrincipal,
  };
  const health = async () => ({ healthy: true, services: {} });
  return startHttp(services, tools, {
    callTool,
    api: createApi({ ...own, health, version: "0.0.0", fault: () => undefined }),
  });
}
afterEach(async () => {
  for (const client of [ann, bob]) await client.call("release_control", { device_id: "box" });
  expect(product.services.executions.running()).toBe(0);
});

function sleeping(name: string, ms: number) {
  return {
    name,
    ...chain([
      { id: "wait", type: "sleep", duration_ms: ms },
      { id: "press", type: "action", command: "press_key", params: { key: "HOME" } },
      sees("look", "Welcome home", { timeout_ms: 5_000 }),
    ]),
  };
}

const endOf = (execution: unknown) =>
  bob.call("get_execution_status", { execution_id: execution, wait_ms: 60_000 });

type Door = (client: string) => Promise<{
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void> | void;
}>;
const fileOf = ({ listening }: HttpFixture): DaemonFile => ({
  ...{ pid: process.pid, started_at: "", port: listening.localPort, token: testToken, version: "0.0.0" },
  ...{ build: { hash: "", at: "" }, config: { hash: "" } },
});
const ofMcp =
  (mode: Parameters<typeof connectHttp>[1]): Door =>
  async (client) => {
    const connected = await connectHttp(http.url("/mcp"), mode, { "x-labwright-client": client });
    return {
      call: (name, args, signal) =>
        connected.client.callTool({ name, arguments: args }, signal && { signal }),
      close: () => connected.client.close(),
    };
  };
const doors: Record<string, Door> = {
  "the bridge": async (client) => {
    const bridge = await attach(fileOf(http), { client, project: undefined }, 5_000);
    if (!bridge) throw new Error("The daemon refused the bridge.");
    const rest = { idempotency_key: undefined, traceparent: undefined, host: undefined, progress: undefined };
    const { signal: never } = new AbortController();
    return {
      call: (name, args, signal = never) =>
        bridge.callTool({
          ...{ ...rest, name, arguments: args, signal, elicitation: false, views: false },
          ...{ http: undefined, session: undefined },
        }),
      close: () => bridge.close(),
    };
  },
  "MCP with a session": ofMcp("legacy"),
  "MCP without a session": ofMcp({ pin: "2026-07-28" }),
  "REST and the command line": async (client) => ({
    call: (name, args, signal = new AbortController().signal) =>
      callTool(
        { file: fileOf(http), lost: new AbortController().signal },
        { name, arguments: args, client, signal },
      ),
    close: () => undefined,
  }),
};

test.each(
  Object.entries(doors),
)("through %s, a wait that is cancelled stops the run of its owner only", async (_, door) => {
  const { executions } = product.services;
  const [owner, guest] = [await door("ann"), await door("bob")];
  await owner.call("execute_testcase", { testcase: "endless", wait_ms: 0 });
  const [found] = await running();
  const waits = vi.spyOn(executions, "wait");
  const cancelled = async ({ call }: typeof owner) => {
    const stop = new AbortController();
    waits.mockClear();
    const args = { execution_id: found?.execution_id, wait_ms: 60_000 };
    const waiting = call("get_execution_status", args, stop.signal).catch(() => undefined);
    await expect.poll(() => waits.mock.calls.length).toBe(1);
    stop.abort();
    await waiting;
    return waits.mock.results[0]?.value;
  };
  expect(await cancelled(guest)).toMatchObject({ status: "running" });
  expect(await running()).toHaveLength(1);
  expect(await cancelled(owner)).toMatchObject({ status: "cancelled", reason: { code: "CANCELLED" } });
  waits.mockRestore();
  for (const { close } of [owner, guest]) await close();
});

const running = async () => {
  const { structured } = await bob.call("get_execution_results", { status: "running" });
  return z.array(z.object({ execution_id: z.string() })).parse(structured.executions);
};

const slowAction = { command: "press_key", params: { key: "HOME" }, wait_ms: 2_000 };

test.each([
  ["execute_device_action", { actions: [slowAction] }],
  ["execute_testcase", { testcase: "long" }],
  ["execute_script", { script: "long.sh" }],
  ["execute_edge", { userinterface_name: "tv", edge: "Home → Movies" }],
  ["validate_navigation", { userinterface_name: "tv" }],
])("%s is answered before its call's limit, however long it may wait, and its run goes on", async (tool, args) => {
  const reply = await ann.call(tool, { ...args, wait_ms: 600_000 });
  expect(reply.error).toBeUndefined();
  expect(reply.structured).toMatchObject({ status: "running", execution_id: expect.any(String) });
  const { execution_id } = reply.structured;
  const waited = await ann.call("get_execution_status", { execution_id, wait_ms: 600_000 });
  expect(waited.error).toBeUndefined();
  const { structured } = await endOf(execution_id);
  expect(structured.status).toMatch(/passed|failed/);
  expect(structured.reason).not.toMatchObject({ code: "CANCELLED" });
});

test("release_control ends the run that goes on, and the next holder has the device for itself", async () => {
  const endless = await ann.call("execute_testcase", { testcase: "endless", wait_ms: 0 });
  const queued = await ann.call("execute_testcase", { testcase: "long", wait_ms: 0 });
  expect(queued.structured).toMatchObject({ status: "queued", reason: { code: "QUEUED" } });
  const acting = await ann.call("execute_device_action", { actions: [slowAction], wait_ms: 0 });
  expect(acting.structured).toMatchObject({ status: "queued", queue: expect.stringContaining("Number 2") });
  expect((await bob.call("take_control")).error).toMatchObject({
    code: "DEVICE_HELD",
    hint: expect.stringContaining("session_id"),
  });
  expect((await ann.call("release_control")).error).toBeUndefined();
  for (const { structured } of [endless, queued, acting])
    expect((await endOf(structured.execution_id)).structured).toMatchObject({
      status: "cancelled",
      reason: { code: "CANCELLED" },
    });
  const next = await bob.call("execute_testcase", { testcase: "long", wait_ms: 600_000 });
  expect(next.structured).toMatchObject({ status: "passed" });
});

test("force ends the former holder's run before the new holder has the device", async () => {
  const endless = await ann.call("execute_testcase", { testcase: "endless", wait_ms: 0 });
  const taken = await bob.call("take_control", { force: true });
  expect(taken.error).toBeUndefined();
  expect(product.services.executions.running()).toBe(0);
  expect((await endOf(endless.structured.execution_id)).structured).toMatchObject({
    status: "error",
    reason: { code: "LEASE_LOST", message: expect.stringContaining("bob") },
  });
});

test("a client that ends takes its runs with it", async () => {
  const endless = await ann.call("execute_testcase", { testcase: "endless", wait_ms: 0 });
  await product.services.devices.releaseClient("ann");
  expect((await endOf(endless.structured.execution_id)).structured).toMatchObject({ status: "cancelled" });
  expect(await product.services.devices.leases()).toEqual([]);
});

test("a script's runs end with the script's lease", async () => {
  const script = "from labwright import call\ncall('execute_testcase', testcase='endless', wait_ms=600000)\n";
  writeFileSync(join(product.config.folders.scripts, "inner.py"), script);
  const outer = await ann.call("execute_script", { script: "inner.py", wait_ms: 0 });
  await expect.poll(() => product.services.executions.running(), { timeout: 30_000 }).toBe(2);
  await product.services.devices.releaseClient("ann");
  expect(product.services.executions.running()).toBe(0);
  expect((await endOf(outer.structured.execution_id)).structured).toMatchObject({ status: "cancelled" });
});

test("no one else is shown the handle of a lease: not in the log, the audit, the lists or an error", async () => {
  const { structured } = await ann.call("take_control", { device_id: "box" });
  const handle = z.string().parse(structured.session_id);
  await ann.call("execute_device_action", { session_id: handle, actions: [{ command: "nonsense" }] });
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const { log } = createLog({ level: "info", destination, mask: (text) => text });
  log.info({ tool: "press", session_id: handle }, "call");
  log.error({ err: new Error(`Failed query: select ... params: ${handle},box`) }, "fault");
  expect(logged.join("")).toContain(handle.slice(0, 14));
  const seen = [
    logged,
    await callRows(product.storage.db).recent({ limit: 50 }),
    await bob.call("take_control", { device_id: "box" }),
    await bob.call("get_device_info", { device_id: "box" }),
    await bob.call("list_hosts"),
    await bob.call("get_execution_results"),
  ];
  expect(JSON.stringify(seen)).toContain("DEVICE_HELD");
  expect(JSON.stringify(seen)).not.toContain(handle);
});
