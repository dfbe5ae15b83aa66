import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const shows = (text: string) => ({ command: "text_visible", params: { text } });
const app = JSON.stringify({
  userinterface: { name: "box", models: ["simulated"] },
  nodes: [
    { label: "Home", type: "entry", verifications: [shows("Live TV")] },
    { label: "Movies", verifications: [shows("All movies")] },
    { label: "Settings", verifications: [shows("Device settings")] },
  ],
});

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  await client.call("create_userinterface", { name: "box", models: ["simulated"] });
  for (const node of z.object({ nodes: z.array(z.looseObject({})) }).parse(JSON.parse(app)).nodes)
    await client.call("create_node", { userinterface_name: "box", ...node });
  const open = (name: string) => ({ command: "click_element", params: { selector: name } });
  for (const target of ["Movies", "Settings"])
    await client.call("create_edge", {
      userinterface_name: "box",
      source: "Home",
      target,
      action_sets: [{ actions: [open(target)] }],
    });
});
afterAll(() => product.dispose());

const generate = (name: string, description: string, more = {}) =>
  client.call("generate_and_save_testcase", {
    name,
    userinterface_name: "box",
    description,
    ...more,
  });

test("what is understood is saved as a graph that runs, and fails where a check does not hold", async () => {
  const { structured, text } = await generate(
    "settings",
    'Go to Settings.\nType "Kitchen" into "Device name", then check that "Device name" contains "Kitchen"\nPress BACK\nCheck that Home is shown',
    { device_id: "box" },
  );
  expect(structured).toMatchObject({ saved: true, testcase_id: expect.any(String), name: "settings" });
  expect(text).toContain('4 Press BACK -> press_key key="BACK"');
  expect((await client.call("execute_testcase", { testcase: "settings" })).structured).toMatchObject({
    status: "passed",
    verified_count: 3,
  });
  const wrong = await generate("wrong", "go to Movies\ncheck that Settings is shown");
  expect(wrong.structured).toMatchObject({ saved: true });
  expect((await client.call("execute_testcase", { testcase: "wrong" })).structured).toMatchObject({
    status: "failed",
    failed_step: { label: "check that Settings is shown" },
  });
  const calling = await generate("calling", "call test settings");
  expect(calling.structured).toMatchObject({ saved: true });
});

test("one sentence that is not understood saves nothing, and costs a line that names it and what is nearest", async () => {
  const { structured } = await generate("half", 'go to Movis\ngo to Home\nclick "Movies" and dance', {
    device_id: "box",
  });
  expect(structured).toEqual({
    saved: false,
    name: "half",
    understood: 2,
    not_understood: [
      'go to Movis: no node is called "Movis"; nearest: Movies',
      expect.stringMatching(/^dance: not understood; nearest: /),
    ],
  });
  expect((await client.call("load_testcase", { testcase: "half" })).error?.code).toBe("TESTCASE_NOT_FOUND");
});

test("save: false returns the graph and saves nothing", async () => {
  const { structured } = await generate("looked at", "go to Home", { save: false });
  expect(structured).toMatchObject({
    saved: false,
    steps: "1 go to Home -> navigation Home",
    testcase: { blocks: [{ type: "start" }, { id: "s1", target: "Home" }, { type: "success" }] },
  });
  expect((await client.call("load_testcase", { testcase: "looked at" })).isError).toBe(true);
});

test.each([
  ["a test that checks nothing", { description: "press OK" }, "EMPTY_TEST"],
  ["an app that is not there", { userinterface_name: "boxx" }, "USERINTERFACE_NOT_FOUND"],
  ["a name that is taken", { name: "taken" }, "ALREADY_EXISTS"],
  [
    "a key that the device has not",
    { description: "press FIRE\ncheck that Home is shown" },
    "TESTCASE_INVALID",
  ],
  ["an unknown placeholder", { description: 'check text "{{nobody}}" is visible' }, "UNKNOWN_VARIABLE"],
  ["a device that is not there", { device_id: "bx" }, "DEVICE_NOT_FOUND"],
])("%s is refused, and nothing is saved", async (_, given, code) => {
  await generate("taken", "go to Home");
  const before = await client.call("list_testcases");
  const { error } = await generate("refused", "go to Home", { device_id: "box", ...given });
  expect(error?.code).toBe(code);
  expect((await client.call("list_testcases")).structured).toEqual(before.structured);
});
