import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  await client.call("import_userinterface", { yaml: boxYaml("box") });
});
afterAll(() => product.dispose());
beforeEach(async () => {
  await client.call("navigate_to_node", { userinterface_name: "box", node: "Home" });
});

const plan = (args: object) =>
  client.call("execute_plan", { userinterface_name: "box", device_id: "box", ...args });
const run = (steps: object[]) => plan({ plan: { task: "try", steps } });

describe("get_task_context", () => {
  test("gives one device's nodes, commands and checks, each with its kind, and where the device is", async () => {
    const { structured } = await client.call("get_task_context", { userinterface_name: "box" });
    expect(structured).toMatchObject({
      userinterface_name: "box",
      contexts: [
        {
          device_id: "lab/box",
          device_model: "simulated",
          tree_id: expect.any(String),
          current_node: "Home",
          navigation: expect.arrayContaining(["Home", "Live", "Movies", "Settings"]),
          actions: expect.arrayContaining([expect.stringMatching(/^press_key\(remote\): \S/)]),
          verifications: expect.arrayContaining([expect.stringMatching(/^text_visible\(\w+\): \S/)]),
        },
      ],
    });
  });
});

describe("execute_plan", () => {
  test("a caller may say where the device is: it is believed where nothing can be looked at, else looked at", async () => {
    const at = (current_node_id: string) => plan({ task: "go to Home", current_node_id });
    expect((await at("Nowhere")).error).toMatchObject({ code: "NODE_NOT_FOUND" });
    expect((await at("Settings")).structured).toMatchObject({ success: true, current_node: "Home" });
    const position = { userinterface_name: "box", identify: true };
    expect((await client.call("get_current_position", position)).structured).toMatchObject({ node: "Home" });
  });

  test("a task in words is planned, run, judged and told step by step, and the device's place with it", async () => {
    const { structured } = await plan({ task: "Go to Settings and then check that Settings is shown" });
    expect(structured).toMatchObject({
      success: true,
      status: "passed",
      current_node: "Settings",
      plan: {
        feasible: true,
        version: 1,
        complexity: "simple",
        steps: [{ command: "execute_navigation" }, { index: 2 }],
      },
      results: [
        { step: 1, command: "execute_navigation", action_type: "navigation", status: "completed" },
        { step: 2, status: "completed" },
      ],
    });
    const { execution_id } = structured;
    expect((await client.call("get_execution_status", { execution_id })).structured).toMatchObject({
      kind: "plan",
      status: "passed",
    });
    expect((await client.call("get_execution_report", { execution_id })).isError).toBe(false);
    expect((await client.call("list_testcases")).structured.testcases).toEqual([]);
  });

  test.each([
    "Navigate to home and click Movies",
    "go to Home, then tap on the Movies button",
    "Open Home. Press BACK. Go to Movies",
  ])("%s is understood without quotes, since nothing of it is kept", async (task) => {
    const { structured } = await plan({ task });
    expect(structured).toMatchObject({ success: true, plan: { feasible: true } });
  });

  test("a name in a task that could be two steps is not guessed", async () => {
    const { structured } = await plan({ task: "click Movies or Live" });
    expect(structured).toMatchObject({ success: false, plan: { feasible: false } });
  });

  test("a task that is not understood runs nothing and says what it does not understand", async () => {
    const { structured } = await plan({ task: "go to Movis; juggle" });
    expect(structured).toMatchObject({ success: false, results: [], plan: { feasible: false, steps: [] } });
    expect(structured.message).toContain('no node is called "Movis"; nearest: Movies');
    expect(structured.execution_id).toBeUndefined();
  });

  test("a plan in the words of seed 004 runs with detected action types, in the order of depends_on", async () => {
    const { structured } = await run([
      {
        index: 3,
        objective: "See the text",
        command: "waitForTextToAppear",
        params: { text: "All movies" },
        depends_on: [2],
      },
      {
        index: 1,
        objective: "Home",
        command: "execute_navigation",
        params: { target_node: "Home", action_type: "navigation" },
      },
      {
        index: 2,
        objective: "Open",
        command: "click_element",
        params: { selector: "Movies" },
        depends_on: [1],
      },
    ]);
    expect(structured).toMatchObject({
      success: true,
      verified_count: 2,
      results: [
        { step: 1, action_type: "navigation", status: "completed" },
        { step: 2, action_type: "remote", status: "completed", duration_ms: expect.any(Number) },
        { step: 3, objective: "See the text", status: "completed" },
      ],
    });
  });

  test("a check that fails fails the plan, and the steps after it are skipped", async () => {
    const { structured } = await run([
      { index: 1, objective: "Wrong", command: "text_visible", params: { text: "Nowhere" }, timeout_ms: 100 },
      { index: 2, objective: "Never", command: "press_key", params: { key: "BACK" } },
    ]);
    expect(structured).toMatchObject({
      success: false,
      status: "failed",
      results: [
        { status: "failed", check: true, message: expect.stringContaining("Nowhere") },
        { step: 2, status: "skipped" },
      ],
    });
  });

  test("a plan that acts and checks nothing runs, and is no success, which its status calls the test's fault", async () => {
    const { structured } = await run([
      { index: 1, objective: "Press", command: "press_key", params: { key: "OK" } },
    ]);
    expect(structured).toMatchObject({
      success: false,
      status: "error",
      reason: { code: "NOTHING_VERIFIED" },
      results: [{ status: "completed" }],
    });
    const status = await client.call("get_execution_status", { execution_id: structured.execution_id });
    expect(status.structured).toMatchObject({ reason: { code: "NOTHING_VERIFIED" }, fault: "test" });
  });

  test("the opposite of a check holds where the check does not", async () => {
    const check = { command: "text_visible", params: { text: "Nowhere" }, negate: true };
    const { structured } = await run([{ index: 1, objective: "Not there", ...check }]);
    expect(structured).toMatchObject({ success: true, verified_count: 1 });
  });

  test("feasible: false runs nothing", async () => {
    const { structured } = await plan({
      plan: {
        task: "x",
        feasible: false,
        analysis: "No such screen.",
        steps: [{ index: 1, objective: "go to Home" }],
      },
    });
    expect(structured).toMatchObject({
      success: false,
      results: [],
      message: "Nothing was run. No such screen.",
    });
  });

  const press = { objective: "Press", command: "press_key", params: { key: "OK" } };
  test.each([
    [
      "steps that wait for each other",
      [
        { ...press, index: 1, depends_on: [2] },
        { ...press, index: 2, depends_on: [1] },
      ],
      "wait for each other",
    ],
    ["a step that waits for itself", [{ ...press, index: 1, depends_on: [1] }], "wait for each other"],
    [
      "the result of another step",
      [
        { ...press, index: 1 },
        { ...press, index: 2, params: { key: "{{step1.output}}" }, depends_on: [1] },
      ],
      "step 2 names what another step returns",
    ],
    ["a step that is not there", [{ ...press, index: 1, depends_on: [7] }], "step 7, which is not there"],
    [
      "two steps of one index",
      [
        { ...press, index: 1 },
        { ...press, index: 1 },
      ],
      "same index",
    ],
    [
      "an unknown command",
      [{ index: 1, objective: "Fly", command: "fly_away" }],
      'unknown command or check "fly_away"',
    ],
    ["a parameter that the command lacks", [{ ...press, index: 1, params: { kee: "OK" } }], "kee"],
    [
      "a node that is not there",
      [{ index: 1, objective: "Go", command: "execute_navigation", params: { target_node: "Movis" } }],
      "Movis",
    ],
    [
      "a navigation without a node",
      [{ index: 1, objective: "Go", command: "execute_navigation" }],
      "target_node",
    ],
    ["a controller that the device lacks", [{ ...press, index: 1, action_type: "power" }], "power"],
    [
      "a step that needs judgement",
      [{ index: 1, objective: "Decide", tools: ["dump_ui_elements"] }],
      "needs judgement",
    ],
    ["a command that cannot be the opposite", [{ ...press, index: 1, negate: true }], "not takes one check"],
    ["no steps", [], "no steps"],
    ["500 steps", Array.from({ length: 500 }, (_, at) => ({ ...press, index: at + 1 })), "100"],
    ["half a step", [{ index: 1 }], "objective"],
    [
      "an output of a step that is not there",
      [{ ...press, index: 1, params: { key: "{{s9.output.key}}" } }],
      "s9",
    ],
  ])("%s is INVALID_PLAN, and nothing runs", async (_, steps, message) => {
    const before = (await client.call("get_execution_results")).structured;
    const { error } = await run(steps);
    expect(error).toMatchObject({ code: "INVALID_PLAN", message: expect.stringContaining(message) });
    expect((await client.call("get_execution_results")).structured).toEqual(before);
  });

  test("neither a task nor a plan is INVALID_PLAN, a task of 1,001 characters INVALID_INPUT", async () => {
    expect((await plan({})).error?.code).toBe("INVALID_PLAN");
    expect((await plan({ task: "x".repeat(1_001) })).error?.code).toBe("INVALID_INPUT");
  });

  test("a plan that is cancelled ends so, and can be waited for", async () => {
    const { structured } = await plan({
      plan: { task: "wait", steps: [{ index: 1, objective: 'wait for text "Nowhere" for 60 s' }] },
      wait_ms: 0,
    });
    expect(structured).toMatchObject({ success: false, status: "running", results: [{ status: "pending" }] });
    const { execution_id } = structured;
    await client.call("cancel_execution", { execution_id });
    const end = await client.call("get_execution_status", { execution_id, wait_ms: 10_000 });
    expect(end.structured).toMatchObject({ kind: "plan", status: "cancelled" });
  });
});
