import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

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
const click = (selector: string) => ({ command: "click_element", params: { selector } });

test("a node is created, read, changed and deleted", async () => {
  const checks = [{ command: "text_visible", params: { text: "Guide" } }];
  expect((await call("create_node", { label: "Guide", verifications: checks })).structured).toMatchObject({
    label: "Guide",
  });
  await call("update_node", { node: "Guide", label: "TV guide", description: "What is on" });
  expect((await call("get_node", { node: "tv guide" })).structured).toMatchObject({
    label: "TV guide",
    description: "What is on",
    verifications: [{ command: "text_visible" }],
    reliability: [],
  });
  expect((await call("delete_node", { node: "TV guide" })).error).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
  });
  expect((await call("delete_node", { node: "TV guide", confirm: true })).structured).toMatchObject({
    nodes: 1,
  });
  expect((await call("get_node", { node: "TV guide" })).error).toMatchObject({ code: "NODE_NOT_FOUND" });
});

test("an edge is created by labels, read, changed, listed and deleted", async () => {
  const created = await call("create_edge", {
    source: "Live",
    target: "Movies",
    action_sets: [{ actions: [click("Guide")] }],
  });
  expect(created.structured).toMatchObject({ edge: "Live → Movies" });
  await call("update_edge", { edge: "Live -> Movies", priority: "p1", final_wait_ms: 5 });
  expect((await call("get_edge", { edge: created.structured.id })).structured).toMatchObject({
    source: "Live",
    priority: "p1",
    final_wait_ms: 5,
    action_sets: [{ id: "forward", actions: [{ command: "click_element" }] }],
  });
  expect((await call("list_edges", { node: "Live" })).structured.edges).toMatchObject([
    { edge: "Home → Live" },
    { edge: "Live → Movies", actions: "click_element", flags: "p1" },
  ]);
  expect((await call("delete_edge", { edge: "Live → Movies" })).error).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
  });
  expect((await call("delete_edge", { edge: "Live → Movies", confirm: true })).structured).toEqual({
    edges: 1,
  });
});

test("deep input that is wrong is refused with its path, before anything is stored", async () => {
  const sets = [{ actions: [{ comand: "click_element" }] }];
  const reply = await call("create_edge", { source: "Live", target: "Movies", action_sets: sets });
  expect(reply.error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("action_sets"),
  });
  expect((await call("list_edges", { node: "Live" })).structured.edges).toHaveLength(1);
});

test("a subtree hangs below a node, and its nodes are reached from that node", async () => {
  expect((await call("create_subtree", { node: "Settings" })).structured).toMatchObject({
    name: "Settings",
    depth: 1,
  });
  await call("create_node", {
    tree: "Settings",
    label: "Locked",
    verifications: [{ command: "text_visible", params: { text: "Device name" } }],
  });
  await call("create_edge", {
    source: "Settings",
    target: "Locked",
    action_sets: [{ actions: [click("Parental lock")] }],
  });
  expect((await call("navigate_to_node", { node: "Locked" })).structured).toMatchObject({
    status: "passed",
    verified: true,
    at: "Locked",
  });
  expect((await call("create_subtree", { node: "Settings" })).error).toMatchObject({
    code: "ALREADY_EXISTS",
  });
});

test("save_node_screenshot keeps a picture with the node and links it", async () => {
  const saved = await call("save_node_screenshot", { node: "Home" });
  expect(saved.structured.screenshot).toMatch(/^artifact:/);
  expect(saved.raw.content).toContainEqual(
    expect.objectContaining({ type: "resource_link", uri: saved.structured.screenshot }),
  );
  expect((await call("get_node", { node: "Home" })).structured).toMatchObject({
    screenshot: saved.structured.screenshot,
  });
});
