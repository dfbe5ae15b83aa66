import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let ann: TestClient;
let bob: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  // Every call of ann ends after a second.
  ann = await product.connect({ client: "ann", maxCallMs: 1_000 });
  bob = await product.connect({ client: "bob" });
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
afterAll(() => product.dispose());
afterEach(async () => {
  for (const client of [ann, bob]) await client.call("release_control", { device_id: "box" });
  expect(product.services.executions.running()).toBe(0);
});

function sleeping(name: string, ms: number) {
  return {
    name,
    blocks: [
      { id: "start", type: "start" },
      { id: "wait", type: "sleep", duration_ms: ms },
      { id: "press", type: "action", command: "press_key", params: { key: "HOME" } },
      { id: "look", type: "verification", command: "text_visible", params: { text: "Welcome home" } },
      { id: "done", type: "success" },
    ],
    edges: [
      { from: "start", to: "wait" },
      { from: "wait", to: "press" },
      { from: "press", to: "look" },
      { from: "look", to: "done" },
    ],
  };
}

const endOf = (execution: unknown) =>
  bob.call("get_execution_status", { execution_id: execution, wait_ms: 60_000 });

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
