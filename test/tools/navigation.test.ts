import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml, click } from "../services/apps/navigation/lab.ts";

let product: Product;
let client: TestClient;
let app: string;
let count = 0;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
});
afterAll(() => product.dispose());
beforeEach(async () => {
  app = `box ${++count}`;
  await client.call("import_userinterface", { yaml: boxYaml(app) });
});

const call = (tool: string, args: Record<string, unknown> = {}) =>
  client.call(tool, { userinterface_name: app, ...args });

test("navigate_to_node goes to a place by name and says which way it went", async () => {
  await call("navigate_to_node", { node: "Home" });
  const reply = await call("navigate_to_node", { node: "Settings" });
  expect(reply.structured).toMatchObject({
    status: "passed",
    verified: true,
    at: "Settings",
    path: "Home → Settings",
    replans: 0,
  });
  const status = await client.call("get_execution_status", { execution_id: reply.structured.execution_id });
  expect(status.structured).toMatchObject({ status: "passed" });
});

test("navigate_to_node that fails is a failed call with the reason, the execution and what failed", async () => {
  await call("delete_edge", { edge: "Home → Movies", confirm: true });
  const nowhere = { source: "Home", target: "Movies", action_sets: [{ actions: [click("Gone")] }] };
  await call("create_edge", nowhere);
  const { isError, error } = await call("navigate_to_node", { node: "Movies" });
  expect(isError).toBe(true);
  expect(error).toMatchObject({
    code: "ELEMENT_NOT_FOUND",
    message: expect.stringContaining("Gone"),
    details: { execution_id: expect.any(String), legs: [{ from: "Home", to: "Movies", ok: false }] },
  });
  expect((await call("get_current_position")).structured).toMatchObject({
    source: "unknown",
    verified: false,
  });
});

test.each([
  [
    "navigate_to_node",
    { node: "Live" },
    { verified: true, at: "Live", path: expect.stringContaining("Live") },
  ],
  ["execute_edge", { edge: "Home → Live", action_set: "reverse" }, { verified: true, at: "Home" }],
  ["validate_navigation", {}, { failed: expect.any(Number), problems: expect.any(Array) }],
])("get_execution_status waits for %s and says what it says at its end", async (tool, args, end) => {
  const { execution_id } = (await call(tool, { ...args, wait_ms: 0 })).structured;
  const done = await client.call("get_execution_status", { execution_id, wait_ms: 60_000 });
  expect(done.structured).toMatchObject({ execution_id, steps: expect.any(Array), ...end });
});

test("execute_edge tries one edge from the present screen", async () => {
  await call("navigate_to_node", { node: "Home" });
  expect((await call("execute_edge", { edge: "Home → Movies" })).structured).toMatchObject({
    verified: true,
    at: "Movies",
  });
  expect(
    (await call("execute_edge", { edge: "Home → Movies", action_set: "reverse" })).structured,
  ).toMatchObject({ at: "Home" });
  await call("navigate_to_node", { node: "Settings" });
  expect((await call("execute_edge", { edge: "Home → Live" })).error).toMatchObject({
    code: "ELEMENT_NOT_FOUND",
  });
});

test("get_current_position tracks, is doubted after other driving, and identifies", async () => {
  await call("navigate_to_node", { node: "Movies" });
  expect((await call("get_current_position")).structured).toMatchObject({
    node: "Movies",
    verified: true,
    source: "tracked",
  });
  await client.call("execute_device_action", {
    actions: [{ command: "press_key", params: { key: "HOME" } }],
  });
  expect((await call("get_current_position")).structured).toMatchObject({ node: "Movies", verified: false });
  expect((await call("get_current_position", { identify: true })).structured).toMatchObject({
    node: "Home",
    verified: true,
    source: "identified",
  });
});

test("validate_navigation walks every edge and names those that fail", async () => {
  await call("create_edge", {
    source: "Live",
    target: "Settings",
    action_sets: [{ actions: [click("Gone")] }],
  });
  const reply = await call("validate_navigation");
  expect(reply.structured).toMatchObject({ status: "failed", passed: 7, failed: 1 });
  expect(reply.structured.problems).toEqual([
    expect.stringMatching(/^Live → Settings \(forward\): ELEMENT_NOT_FOUND/),
  ]);
});

test("list_navigation_nodes and preview_userinterface show the app", async () => {
  const { nodes } = (await call("list_navigation_nodes")).structured;
  expect(nodes).toHaveLength(7);
  expect(nodes).toContainEqual({ id: expect.any(String), label: "Home", checks: 1 });
  const preview = await call("preview_userinterface");
  expect(preview.structured.map).toContain("Home → Live, Movies, Settings");
});

test("verify_node checks a place without going there", async () => {
  await call("navigate_to_node", { node: "Live" });
  expect((await call("verify_node", { node: "Live" })).structured).toMatchObject({
    label: "Live",
    pass: true,
  });
  expect((await call("verify_node", { node: "Home", timeout_ms: 0 })).structured).toMatchObject({
    pass: false,
  });
  expect((await call("verify_node", { node: "Blind" })).error).toMatchObject({ code: "INVALID_INPUT" });
});
