import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { TestClient } from "../../../fixtures/client.ts";
import { openProduct, type Product } from "../../../fixtures/product.ts";
import { hasSandbox } from "../../../fixtures/sandbox.ts";
import { chain, sees } from "../../apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  mkdirSync(product.config.folders.scripts, { recursive: true });
});
afterAll(() => product.dispose());

let count = 0;
async function save(blocks: readonly Record<string, unknown>[], more: Record<string, unknown> = {}) {
  count += 1;
  const testcase = { name: `with a script ${count}`, ...chain(blocks), ...more };
  return { name: testcase.name, reply: await client.call("save_testcase", { testcase }) };
}
async function runOf(blocks: readonly Record<string, unknown>[], more: Record<string, unknown> = {}) {
  const { name, reply } = await save(blocks, more);
  expect(reply.error).toBeUndefined();
  const { structured } = await client.call("execute_testcase", {
    testcase: name,
    inputs: more.inputs ? { word: "Movies" } : {},
  });
  const { steps } = await product.services.executions.get(z.string().parse(structured.execution_id));
  return { structured, steps: steps.map(({ path, status }) => `${path} ${status}`) };
}
const script = (name: string, text: string) =>
  writeFileSync(join(product.config.folders.scripts, name), text);
const inputs = [{ name: "word" }];

it("a script that is not there is named when the test case is saved, with the nearest", async () => {
  script("opens.py", "");
  const { reply } = await save([{ id: "s", type: "script", script: "open.py" }]);
  expect(reply.error).toMatchObject({
    code: "TESTCASE_INVALID",
    message: expect.stringMatching(/s: There is no script "open.py".*opens.py/),
  });
});

it("a placeholder in its arguments that nothing fills is named, too", async () => {
  const { reply } = await save([{ id: "s", type: "script", script: "opens.py", args: ["{{wrod}}"] }], {
    inputs,
  });
  expect(reply.error).toMatchObject({
    code: "UNKNOWN_VARIABLE",
    message: expect.stringContaining("{{wrod}}"),
  });
});

describe.runIf(hasSandbox)("a script block", () => {
  it("gives its outputs to later blocks, its calls stand under it, and its checks count", async () => {
    script(
      "opens.py",
      `
import sys, labwright
labwright.call("execute_device_action", actions=[{"command": "click_element", "params": {"selector": sys.argv[1]}}])
labwright.call("verify_device_state", checks=[{"command": "text_visible", "params": {"text": "All movies"}}])
labwright.result("passed", heading="All movies", n=2)
`,
    );
    const { structured, steps } = await runOf(
      [
        { id: "home", type: "action", command: "press_key", params: { key: "HOME" } },
        { id: "s", type: "script", script: "opens", args: ["{{word}}"] },
        { id: "two", type: "condition", expression: "s.output.outputs.n == 2 && s.output.exit_code == 0" },
        sees("look", "{{s.output.outputs.heading}}"),
      ],
      { inputs, outputs: { n: "{{s.output.outputs.n}}" } },
    );
    expect(structured).toMatchObject({ status: "passed", verified_count: 2, outputs: { n: 2 } });
    expect(steps).toEqual([
      "home passed",
      "s/tool passed",
      "s/tool passed",
      "s/script passed",
      "s passed",
      "two passed",
      "look passed",
    ]);
  });

  it("fails the test when the script fails, and is not a verdict when the script checks nothing", async () => {
    script("fails.sh", "echo why; exit 4\n");
    const failed = await runOf([{ id: "s", type: "script", script: "fails.sh" }]);
    expect(failed.structured).toMatchObject({
      status: "failed",
      reason: { code: "SCRIPT_FAILED", message: expect.stringContaining("exit code 4") },
      failed_step: { path: "s" },
    });
    script("idle.sh", "true\n");
    const idle = await runOf([{ id: "s", type: "script", script: "idle.sh" }]);
    expect(idle.structured).toMatchObject({ status: "error", reason: { code: "NOTHING_VERIFIED" } });
  });

  it("stops the script at the block's time and says so; the test goes on where an edge for failure leads on", async () => {
    script("long.sh", "sleep 60\n");
    const graph = chain([
      { id: "s", type: "script", script: "long.sh", timeout_ms: 500 },
      sees("look", "Welcome home"),
    ]);
    const edges = [...graph.edges, { from: "s", to: "look", on: "failure" }];
    const testcase = { name: "goes on", blocks: graph.blocks, edges };
    await client.call("save_testcase", { testcase });
    await client.call("execute_device_action", {
      actions: [{ command: "press_key", params: { key: "HOME" } }],
    });
    const { structured } = await client.call("execute_testcase", { testcase: "goes on" });
    expect(structured).toMatchObject({ status: "passed", verified_count: 1 });
    const { steps } = await product.services.executions.get(z.string().parse(structured.execution_id));
    expect(steps.find(({ path }) => path === "s")).toMatchObject({
      status: "error",
      error: { code: "EXECUTION_TIMEOUT", message: expect.stringContaining("500 ms") },
    });
  });
});
