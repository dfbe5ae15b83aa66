import { afterAll, beforeAll, expect, test } from "vitest";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
beforeAll(async () => {
  product = await openProduct(`devices:
  - { name: tv, model: simulated, controllers: { simulated_capture: { frames_per_second: 20 }, video: {} } }
`);
});
afterAll(() => product.dispose());

test("a test case measures a transition, reports its times as outputs, and has a picture of its frames", async () => {
  const client = await product.connect();
  const made = async (tool: string, params: Record<string, unknown>) => {
    const { error, structured } = await client.call(tool, params);
    expect(error).toBeUndefined();
    return structured;
  };
  await made("create_userinterface", {
    name: "tv",
    models: ["simulated"],
    app: { package: "simulated.home" },
  });
  // The capture's clock runs in the upper left corner.
  const params = { key: "OK", area: { x: 0, y: 0.3, width: 1, height: 0.7 }, stable_ms: 500 };
  await made("save_testcase", {
    testcase: {
      name: "opens",
      userinterface_name: "tv",
      ...chain([
        { id: "open", type: "action", command: "measure_transition", params },
        { id: "quick", type: "condition", expression: "open.output.data.first_change_ms < 10000" },
        { type: "verification", command: "element_visible", params: { selector: "Guide" } },
      ]),
      outputs: { changed: "{{open.output.data.first_change_ms}}", frames: "{{open.output.data.artifact}}" },
    },
  });
  const run = await made("execute_testcase", { testcase: "opens", device_id: "tv", wait_ms: 30_000 });
  expect(run).toMatchObject({
    status: "passed",
    outputs: { changed: expect.any(Number), frames: expect.stringContaining("artifact") },
  });
  const tree = `
name: homes
models: [simulated]
app: { package: simulated.home }
nodes:
  Home: check "Movies" is visible
  Live: check "Guide" is visible
edges:
  Home -> Live: { measure_transition: ${JSON.stringify(params)} }
`;
  await made("import_userinterface", { yaml: tree });
  const way = { userinterface_name: "homes", node: "Live", device_id: "tv" };
  const { execution_id } = await made("navigate_to_node", way);
  const { steps } = await product.services.executions.get(String(execution_id));
  expect(steps.at(-1)).toMatchObject({
    output: { kpi_ms: expect.any(Number), kpi_error_ms: expect.any(Number) },
  });
  const still = { command: "picture_stable", params: {} };
  const checked = await made("verify_device_state", { device_id: "tv", checks: [still], timeout_ms: 3_000 });
  // The clock moves.
  expect(checked).toMatchObject({
    pass: false,
    verdicts: [{ actual: expect.stringContaining("of the frames changed") }],
  });
});
