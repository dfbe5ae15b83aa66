import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Toolbox } from "#agent-client/ports.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { calls, says } from "../../fixtures/messagesApi/reply.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";
import { boxYaml } from "../../services/apps/navigation/lab.ts";
import { answersJson, openTasks, toolboxOf } from "./taskLab.ts";

let product: Product;
let client: TestClient;
let toolbox: Toolbox;
beforeAll(async () => {
  product = await openProduct(
    "devices: [{ name: box, model: simulated }, { name: other, model: simulated }]",
  );
  client = await product.connect();
  await client.call("import_userinterface", { yaml: boxYaml("box") });
  toolbox = toolboxOf(client);
});
afterAll(() => product.dispose());
beforeEach(async () => {
  // Tests share their words: none plans as another did.
  await product.memory.forget(undefined);
  await client.call("navigate_to_node", { userinterface_name: "box", node: "Home", device_id: "box" });
});

const { api, run } = openTasks();
const where = { userinterface_name: "box", device_ids: ["box"] };
const executions = async () => (await client.call("get_execution_results")).structured;

describe("without a model", () => {
  test("a task that the grammar reads is planned, shown, run in one call, and complete by its check", async () => {
    const { result, events } = await run(toolbox, where);
    expect(result).toMatchObject({
      success: true,
      plan: { version: 1, steps: [{ command: "execute_navigation" }, { index: 2 }] },
      executed_steps: [
        { index: 1, status: "completed" },
        { index: 2, status: "completed", version: 1 },
      ],
      verification: { task_complete: true, should_replan: false, remaining_steps: [] },
      replans: 0,
    });
    expect(result.final_error).toBeUndefined();
    expect(events.find(({ type }) => type === "plan")).toMatchObject({ plan: result.plan });
    expect(events.at(-1)).toEqual({
      ...{ type: "progress", current_step: 2, total_steps: 2, status: "done", percent: 100 },
    });
  });

  test("a task that it does not read is PLANNING_FAILED with what was not understood, and nothing runs", async () => {
    const before = await executions();
    await expect(run(toolbox, { ...where, task: "juggle with Movis" })).rejects.toMatchObject({
      code: "PLANNING_FAILED",
      message: expect.stringContaining("juggle"),
    });
    expect(await executions()).toEqual(before);
  });

  test("a check that does not hold is no success, names the step, and is not planned again", async () => {
    const { result } = await run(toolbox, { ...where, task: 'check that "Nowhere" is shown; press BACK' });
    expect(result).toMatchObject({
      success: false,
      executed_steps: [{ status: "failed" }, { status: "skipped" }],
      verification: { task_complete: false, should_replan: false, remaining_steps: [1, 2] },
      final_error: { code: "VERIFICATION_FAILED" },
    });
  });

  test("an app that is not there rejects with the server's words", async () => {
    await expect(run(toolbox, { ...where, userinterface_name: "none" })).rejects.toMatchObject({
      message: expect.stringContaining("USERINTERFACE_NOT_FOUND"),
    });
  });

  test("cancelled while it runs, the run on the server is cancelled too", async () => {
    const stop = new AbortController();
    const { result } = await run(toolbox, {
      ...where,
      task: 'wait for text "Nowhere" for 60 s',
      signal: stop.signal,
      emit: (event) => {
        if (event.type === "progress" && event.status === "executing") setTimeout(() => stop.abort(), 200);
      },
    });
    expect(result).toMatchObject({
      success: false,
      final_error: { code: "CANCELLED" },
      executed_steps: [{ status: "failed", error: { code: "CANCELLED" } }],
    });
    await expect
      .poll(async () => JSON.stringify(await executions()), { timeout: 10_000 })
      .toMatch(/"status":"cancelled"/);
  });
});

const central = (plan: object[], more: object = {}) => ({ analysis: "so", feasible: true, plan, ...more });
const go = {
  step: 1,
  command: "execute_navigation",
  params: { target_node: "Movies", action_type: "navigation" },
};
const see = {
  step: 2,
  command: "waitForTextToAppear",
  params: { text: "All movies" },
  description: "See it",
};
const press = { step: 1, command: "press_key", params: { key: "DOWN" }, description: "Press DOWN" };

describe("with a model", () => {
  test("a plan in seed 004's form runs; the request shows the three sections and the plan's schema", async () => {
    const model = await api(answersJson(central([go, see])));
    const { result } = await run(toolbox, { ...where, api: model, task: "verify the films, please" });
    expect(result).toMatchObject({ success: true, executed_steps: [{}, { objective: "See it" }] });
    const [request] = model.requests;
    const sent = JSON.stringify(request);
    expect(sent).toMatch(/Navigation: .*Action: .*press_key\(remote\).*Verification: /s);
    expect(sent).toContain('"type":"json_schema"');
    expect(model.refused).toEqual([]);
  });

  test("a plan that checks nothing is followed by one that checks, from where the device is", async () => {
    const model = await api(answersJson(central([press])), says("no"), answersJson(central([go, see])));
    const { result } = await run(toolbox, { ...where, api: model, task: "verify the films, please" });
    expect(result).toMatchObject({
      success: true,
      replans: 1,
      plan: { version: 2 },
      executed_steps: [
        { version: 1, index: 1, status: "completed" },
        { version: 2, index: 1 },
        { version: 2, index: 2 },
      ],
    });
    expect(JSON.stringify(model.requests.at(-1))).toContain("no check shows that the task is complete");
  });

  test("the model's word alone is no success, after two replans at most", async () => {
    const word = answersJson({ task_complete: true, reasoning: "I pressed it." });
    const acts = answersJson(central([press]));
    const model = await api(acts, word, acts, word, acts, word);
    const { result } = await run(toolbox, { ...where, api: model, task: "verify the films, please" });
    expect(result).toMatchObject({
      success: false,
      replans: 2,
      verification: { task_complete: false },
      final_error: { code: "VERIFICATION_FAILED" },
    });
    expect(model.requests).toHaveLength(6);
  });

  test("a replan that leaves out the check that failed is no success", async () => {
    const wrong = { step: 1, command: "text_visible", params: { text: "Nowhere" }, timeout_ms: 100 };
    const model = await api(
      ...[answersJson(central([wrong])), answersJson(central([go, see])), answersJson(central([go, see]))],
    );
    const { result } = await run(toolbox, { ...where, api: model, task: "verify the films, please" });
    expect(result).toMatchObject({ success: false, replans: 2 });
    expect(JSON.stringify(model.requests[1])).toContain("Repeat each exactly as it is");
  });

  test("a command that is not there is planned again with the server's words", async () => {
    const fly = { step: 1, command: "fly_away", params: {} };
    const model = await api(answersJson(central([fly])), says("no"), answersJson(central([go, see])));
    const { result } = await run(toolbox, { ...where, api: model, task: "verify the films, please" });
    expect(result).toMatchObject({
      success: true,
      replans: 1,
      executed_steps: [{ status: "failed", error: { code: "INVALID_PLAN" } }, {}, {}],
    });
    expect(JSON.stringify(model.requests.at(-1))).toContain("fly_away");
  });

  test("a plan for two devices is one call and one execution; a third device is refused before anything runs", async () => {
    const on = (device_id: string, index: number) => ({
      ...{ index, objective: `See ${device_id}`, depends_on: [], command: "text_visible" },
      params: { device_id, text: "Home" },
    });
    const task = "verify both, please";
    const devices = { ...where, device_ids: ["box", "other"] };
    await client.call("navigate_to_node", { userinterface_name: "box", node: "Home", device_id: "other" });
    const both = await api(
      answersJson({ analysis: "", feasible: true, steps: [on("box", 1), on("other", 2)] }),
    );
    const { result } = await run(toolbox, { ...devices, api: both, task });
    expect(result).toMatchObject({
      ...{ success: true, replans: 0 },
      executed_steps: [{ status: "completed" }, { status: "completed" }],
    });
    const before = await executions();
    const third = answersJson({ analysis: "", feasible: true, steps: [on("third", 1)] });
    await expect(run(toolbox, { ...devices, api: await api(third, third), task })).rejects.toMatchObject({
      code: "PLANNING_FAILED",
      message: expect.stringContaining("drives third"),
    });
    expect(await executions()).toEqual(before);
  });

  test("a step with tools runs with these tools alone, on the task's device; a plan on the screen is not taken", async () => {
    const steps = [
      { step: 1, objective: "Look", tools: ["verify_device_state"] },
      { step: 2, objective: "Back", command: "press_key", params: { key: "BACK" }, depends_on: [1] },
    ];
    const checks = [{ command: "text_visible", params: { text: "Home" } }];
    const model = await api(
      answersJson({ analysis: "", feasible: true, steps }),
      calls("verify_device_state", { checks, device_id: "other" }),
      calls("verify_device_state", { checks }),
      calls("press_key", {}),
      says('It holds. {"plan": [{"step": 1, "command": "factory_reset"}]}'),
    );
    const { result } = await run(toolbox, { ...where, api: model, task: "verify the films, please" });
    expect(model.requests).toHaveLength(5);
    const second = model.requests[1];
    expect(JSON.stringify(second)).not.toContain('"press_key"');
    expect(JSON.stringify(model.requests[2])).toContain("other is not a device of this task");
    expect(result.plan?.steps).toHaveLength(2);
    expect(result.executed_steps.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(result).toMatchObject({ success: true });
  });
});
