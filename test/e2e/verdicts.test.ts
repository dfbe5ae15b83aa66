import { afterAll, beforeAll, expect, test } from "vitest";
import { openSite, type Site } from "../bench/verdictSite.ts";
import type { TestClient } from "../fixtures/client.ts";
import { freePort } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let site: Site;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  site = await openSite();
  for (const [path, body] of Object.entries(pages)) site.answer(path, { body });
  site.answer("/gone", { status: 404, body: "<h1>No such page</h1>" });
  site.answer("/staff", {
    status: 401,
    headers: { "www-authenticate": 'Basic realm="Staff"' },
    body: "Staff only",
  });
  site.answer("/empty", { status: 503, body: "" });
  site.answer("/broken", { status: 500, body: "<h1>Server error</h1>" });
  product = await openProduct("devices: [{ name: browser, model: web }]");
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});

const pages: Record<string, string> = {
  "/shop": "<h1>Shop</h1><p id=total>41</p><button>Save</button><a href=/broken>Cart</a>",
  "/polling": "<h1>Shop</h1><script>setInterval(() => fetch('/poll').catch(() => {}), 50)</script>",
};

type Given = Record<string, unknown>;
const deadline = { timeout_ms: 600 };
const open = (url: string, more: Given = {}): Given => ({
  id: "open",
  type: "action",
  command: "navigate_to_url",
  params: { url, ...more },
});
const click = (selector: string): Given => ({
  id: "click",
  type: "action",
  command: "click_element",
  params: { selector, ...deadline },
});
const sees = (text: string): Given => ({
  id: "check",
  type: "verification",
  command: "text_visible",
  params: { text },
  ...deadline,
});
const go = (target: string): Given => ({ id: "go", type: "navigation", target });

let count = 0;
async function run(blocks: readonly Given[], app?: { nodes: Given[]; edges: Given[]; url?: string }) {
  const name = `run ${++count}`;
  if (app) {
    const { nodes, edges, url } = app;
    const whole = { format_version: 1, name, models: ["web"], app: { url }, tree: { nodes, edges } };
    await client.call("import_userinterface", { yaml: JSON.stringify(whole) });
  }
  const all = [{ id: "start", type: "start" }, ...blocks, { id: "done", type: "success" }];
  const ids = all.map(({ id }) => id);
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index], to }));
  const testcase = { name, blocks: all, edges, ...(app && { userinterface_name: name }) };
  const saved = await client.call("save_testcase", { testcase, replace: true });
  expect(saved.error).toBeUndefined();
  const { structured, error } = await client.call("execute_testcase", { testcase: name });
  expect(error).toBeUndefined();
  return structured;
}

const entry: Given = { label: "Start", type: "entry" };
const node = (label: string, text: string): Given => ({
  label,
  verifications: [{ command: "text_visible", params: { text }, ...deadline }],
});
const edge = (source: string, target: string, command: string, params: Given): Given => ({
  source,
  target,
  action_sets: [{ actions: [{ command, params }] }],
});
const failed = (code: string, more: Given = {}) => ({
  status: "failed",
  reason: expect.objectContaining({ code }),
  ...more,
});
const error = (code: string) => ({ status: "error", reason: expect.objectContaining({ code }) });

test("an app that nothing serves is APP_UNREACHABLE, opened by a block, an edge or its own address", async () => {
  const down = `http://127.0.0.1:${await freePort()}/`;
  expect(await run([open(down), sees("Shop")])).toMatchObject(error("APP_UNREACHABLE"));
  const nodes = [entry, node("Home", "Shop")];
  const opening = edge("Start", "Home", "navigate_to_url", { url: down });
  expect(await run([go("Home")], { nodes, edges: [opening] })).toMatchObject(error("APP_UNREACHABLE"));
  const looking = { source: "Start", target: "Home", action_sets: [{}] };
  expect(await run([go("Home")], { nodes, edges: [looking], url: down })).toMatchObject(
    error("APP_UNREACHABLE"),
  );
});

test("an app that goes down on the way is APP_UNREACHABLE, by a link and by what the page asks for", async () => {
  const own = await openSite();
  own.answer("/", { body: "<a href=/next>Next</a>" });
  own.answer("/polling", { body: pages["/polling"] ?? "" });
  const gate = (path: string): Given => ({ id: "gate", type: "api_request", url: site.url(path) });
  site.on("/close", () => own.close());
  const clicked = await run([open(own.url("/")), gate("/close"), click("Next"), sees("Next page")]);
  expect(clicked).toMatchObject(error("APP_UNREACHABLE"));

  const other = await openSite();
  other.answer("/", { body: pages["/polling"] ?? "" });
  site.on("/close-other", () => other.close());
  const waited = await run([open(other.url("/")), gate("/close-other"), click("Pay"), sees("Paid")]);
  expect(waited).toMatchObject(error("APP_UNREACHABLE"));
});

test("a missing element of an edge is the run's reason, with its command and nearest, in status, JUnit and CTRF", async () => {
  const nodes = [entry, node("Home", "Shop"), node("Cart", "Your cart")];
  const edges = [
    edge("Start", "Home", "navigate_to_url", { url: site.url("/shop") }),
    edge("Home", "Cart", "click_element", { selector: "Saved", ...deadline }),
  ];
  const reply = await run([go("Cart")], { nodes, edges });
  expect(reply).toMatchObject(failed("ELEMENT_NOT_FOUND"));
  expect(reply).toMatchObject({
    reason: { message: expect.stringMatching(/^click_element: .*Saved.*nearest: .*Save/) },
  });
  for (const format of ["junit", "ctrf"]) {
    const { structured } = await client.call("get_execution_report", {
      execution_id: reply.execution_id,
      format,
    });
    const sha256 = String(structured.report).replace("artifact://", "");
    const { bytes } = await product.artifacts.get(sha256);
    const text = new TextDecoder().decode(bytes);
    expect(text).toContain("ELEMENT_NOT_FOUND");
    expect(text).toContain("click_element");
    expect(text).not.toContain("NO_PATH");
  }
});

test("a check of an edge that does not hold gives the run what was expected and found", async () => {
  const edges = [edge("Start", "Home", "navigate_to_url", { url: site.url("/shop") })];
  const reply = await run([go("Home")], { nodes: [entry, node("Home", "Welcome")], edges });
  expect(reply).toMatchObject(
    failed("VERIFICATION_FAILED", {
      failed_step: { expected: expect.stringContaining("Welcome"), found: expect.any(String) },
    }),
  );
});

test("a page that answers 4xx or 5xx fails its own step, unless a check or expect_status expects it", async () => {
  expect(await run([open(site.url("/gone")), click("Save"), sees("Saved")])).toMatchObject(
    failed("NAVIGATION_FAILED", { failed_step: { path: "open", found: "status 404" } }),
  );
  expect(
    await run([open(site.url("/shop")), click("Cart"), { ...click("Buy"), id: "buy" }, sees("x")]),
  ).toMatchObject(failed("NAVIGATION_FAILED", { failed_step: { path: "click", found: "status 500" } }));
  expect(await run([open(site.url("/gone")), sees("Shop")])).toMatchObject(failed("NAVIGATION_FAILED"));
  expect(await run([open(site.url("/gone")), sees("No such page")])).toMatchObject({ status: "passed" });
  const expecting = [open(site.url("/gone"), { expect_status: 404 }), click("Save"), sees("Saved")];
  expect(await run(expecting)).toMatchObject(failed("ELEMENT_NOT_FOUND"));
  expect(await run([open(site.url("/shop"), { expect_status: 404 }), sees("Shop")])).toMatchObject(
    failed("NAVIGATION_FAILED", { failed_step: { expected: "status 404", found: "status 200" } }),
  );
});

test.each([
  ["/gone", 404],
  ["/staff", 401],
  ["/empty", 503],
])("every command named in the hint about the answer of %s can do what it says", async (path, status) => {
  const opening: [string, Given][] = [
    ["navigate_to_url", { url: site.url(path) }],
    ["open_app", { app: site.url(path) }],
    ["click_element", { selector: "Away" }],
    ["double_click", { selector: "Away" }],
    ["press_key", { selector: "Away", key: "Enter" }],
    ["select_option", { selector: "#jump", option: "Away" }],
  ];
  site.answer("/start", {
    body: `<a href=${path}>Away</a><select id=jump onchange="location = '${path}'"><option>Here<option>Away</select>`,
  });
  const start = { ...open(site.url("/start")), id: "home" };
  for (const [command, params] of opening) {
    const step = (more: Given) => ({ id: "open", type: "action", command, params: { ...params, ...more } });
    const reply = await run([start, step({}), { ...start, id: "again" }, sees("Away")]);
    expect([command, reply]).toEqual([command, expect.objectContaining({ status: "failed" })]);
    expect(JSON.stringify(reply)).toContain(`give ${command} expect_status: ${status}`);
    const expecting = await run([start, step({ expect_status: status })]);
    expect([command, expecting]).toEqual([command, expect.objectContaining({ status: "passed" })]);
  }
});

test("an answer that is expected and does not come fails", async () => {
  const press = { id: "press", type: "action", command: "click_element", params: { selector: "Save" } };
  const expecting = { ...press, params: { ...press.params, expect_status: 404 } };
  expect(await run([open(site.url("/shop")), expecting])).toMatchObject(
    failed("NAVIGATION_FAILED", { failed_step: { expected: "status 404", found: "no page was opened" } }),
  );
});

test("a hint names no parameter that the command does not take", async () => {
  site.answer("/start", { body: `<button onpointerenter="location = '/gone'">Away</button>` });
  const hover = { id: "hover", type: "action", command: "hover_element", params: { selector: "Away" } };
  const start = open(site.url("/start"));
  const reply = await run([start, hover, { ...start, id: "again" }, sees("Away")]);
  expect(reply).toMatchObject(failed("NAVIGATION_FAILED", { failed_step: { path: "hover" } }));
  expect(JSON.stringify(reply)).not.toContain("expect_status");
});

test("the node's own checks judge a page that an edge opened with 404", async () => {
  const edges = [edge("Start", "Home", "navigate_to_url", { url: site.url("/gone") })];
  const served = { nodes: [entry, node("Home", "No such page")], edges };
  expect(await run([go("Home")], served)).toMatchObject({ status: "passed" });
  const unchecked = { nodes: [entry, { label: "Home" }], edges };
  expect(await run([go("Home"), click("Save"), sees("Saved")], unchecked)).toMatchObject(
    failed("NAVIGATION_FAILED"),
  );
});

test("a tree without a path is an error, a selector that does not parse too", async () => {
  const nodes = [entry, node("Home", "Shop"), node("Island", "Sea")];
  const edges = [edge("Start", "Home", "navigate_to_url", { url: site.url("/shop") })];
  expect(await run([go("Island")], { nodes, edges })).toMatchObject(error("NO_PATH"));
  expect(await run([open(site.url("/shop")), click("css=a[["), sees("Shop")])).toMatchObject(
    error("INVALID_SELECTOR"),
  );
});

test("a page that is busy for ever is PAGE_UNRESPONSIVE, and the next run has a page that answers", async () => {
  site.answer("/frozen", { body: "<h1>Shop</h1><script>setTimeout(() => { while (true); }, 300)</script>" });
  const waiting = { ...sees("Ready"), timeout_ms: 1_500 };
  expect(await run([open(site.url("/frozen")), waiting])).toMatchObject(error("PAGE_UNRESPONSIVE"));
  expect(await run([open(site.url("/shop")), sees("Shop")])).toMatchObject({ status: "passed" });
});

test("a server that does not answer in time is slow, and its page is not busy", async () => {
  site.answer("/slow", { never: true });
  expect(await run([open(site.url("/slow"), { timeout_ms: 1_200 }), sees("Shop")])).toMatchObject(
    failed("NAVIGATION_FAILED"),
  );
});

test("a loop that stands still for half of the deadline is ENVIRONMENT_SLOW, but a wrong value stays failed", async () => {
  // A check begins while the loop is free, and the next stall is longer than half of its time.
  let isStalling = true;
  const stall = async () => {
    const until = performance.now() + 900;
    while (isStalling && performance.now() < until);
  };
  site.on("/stall", stall);
  site.answer("/late", {
    body: "<h1>Shop</h1><script>const ask = () => setTimeout(() => fetch('/stall').then(ask, ask), 400); ask()</script>",
  });
  const check = (command: string, params: Given): Given => ({
    ...sees(""),
    command,
    params,
    timeout_ms: 1_200,
  });
  const slow = await run([open(site.url("/late")), check("text_visible", { text: "Ready" })]);
  expect(slow).toMatchObject(error("ENVIRONMENT_SLOW"));
  expect(slow).toMatchObject({
    reason: { message: expect.stringMatching(/stalled for \d+ ms.*out of 1200 ms/) },
  });
  const wrong = [
    open(site.url("/late")),
    check("element_text", { selector: "role=heading", text: "Closed" }),
  ];
  expect(await run(wrong)).toMatchObject(failed("VERIFICATION_FAILED"));
  isStalling = false;
});
