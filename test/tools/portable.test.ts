import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

/** The same app as the simulated box's, as someone would write it for browsers. */
const pages: Readonly<Record<string, string>> = {
  "/": `<title>Home</title><h1>Welcome home</h1><button onclick="location='/settings'">Settings</button>`,
  "/settings": `<title>Settings</title><h1>Device settings</h1><label>Device name <input></label>`,
};

let server: Awaited<ReturnType<typeof serve>>;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  server = await serve(({ url = "/" }, reply) => {
    reply.setHeader("content-type", "text/html").end(pages[url] ?? "");
  });
  product = await openProduct(
    "devices: [{ name: browser, model: web }, { name: box, model: simulated }]\nlimits: { call_ms: 60000 }",
  );
  client = await product.connect();
  await save(`${server.url}/`);
});
afterAll(async () => {
  await product.dispose();
  await server.close();
});

/** One app and one test case, which know nothing of the device that they run on. */
async function save(url: string): Promise<void> {
  const shows = (text: string) => [{ command: "text_visible", params: { text } }];
  const calls: [tool: string, params: object][] = [
    [
      "create_userinterface",
      { name: "tv", models: ["web", "simulated"], app: { url, package: "simulated.home" } },
    ],
    ["create_node", { label: "Home", type: "entry", verifications: shows("Welcome home") }],
    ["create_node", { label: "Settings", verifications: shows("Device settings") }],
    [
      "create_edge",
      {
        source: "Home",
        target: "Settings",
        action_sets: [{ actions: [{ command: "click_element", params: { selector: "Settings" } }] }],
      },
    ],
  ];
  for (const [tool, params] of calls)
    expect(
      (
        await client.call(tool, {
          ...(tool !== "create_userinterface" && { userinterface_name: "tv" }),
          ...params,
        })
      ).error,
    ).toBeUndefined();
  for (const value of ["Kitchen TV", "Cellar TV"]) await saveTest(value);
}

/** Types "Kitchen TV", and looks for the value. */
async function saveTest(value: string): Promise<void> {
  const selector = "label=Device name";
  const blocks = [
    { type: "action", command: "open_app", params: { app: "{{app}}" } },
    { type: "verification", command: "app_shown", params: { app: "{{app}}" } },
    { type: "navigation", target: "Settings" },
    { type: "action", command: "input_text", params: { selector, text: "Kitchen" } },
    { type: "action", command: "type_text", params: { selector, text: " TV" } },
    { type: "verification", command: "element_value", params: { selector, value }, timeout_ms: 0 },
    { type: "verification", command: "element_visible", params: { selector: "Device settings" } },
    { type: "verification", command: "element_count", params: { selector: "role=textbox", count: 1 } },
  ];
  const testcase = { name: value, userinterface_name: "tv", ...chain(blocks) };
  expect((await client.call("save_testcase", { testcase })).error).toBeUndefined();
}

const run = async (testcase: string, device_id: string) => {
  const reply = await client.call("execute_testcase", { testcase, device_id, wait_ms: 50_000 });
  expect(reply.error).toBeUndefined();
  return reply.structured;
};

test.each([
  "browser",
  "box",
])("one test case opens the app, goes, types and checks on the %s", async (device) => {
  expect(await run("Kitchen TV", device)).toMatchObject({ status: "passed", verified_count: 5 });
});

test.each(["browser", "box"])("it fails on the %s where the app does something else", async (device) => {
  expect(await run("Cellar TV", device)).toMatchObject({
    status: "failed",
    failed_step: { found: expect.stringContaining('"Kitchen TV"') },
  });
});
