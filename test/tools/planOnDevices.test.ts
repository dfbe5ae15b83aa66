import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct(
    "devices: [{ name: box, model: simulated }, { name: other, model: simulated }]",
  );
  client = await product.connect();
  await client.call("import_userinterface", { yaml: boxYaml("box") });
});
afterAll(() => product.dispose());
beforeEach(async () => {
  for (const device_id of ["box", "other"])
    await client.call("navigate_to_node", { userinterface_name: "box", node: "Home", device_id });
});

const run = (steps: object[], args: object = {}) =>
  client.call("execute_plan", { userinterface_name: "box", plan: { task: "both", steps }, ...args });

type On = "box" | "other";
const go = (index: number, device_id: On, target_node: string, depends_on: number[] = []) => ({
  ...{ index, objective: `${device_id} to ${target_node}`, command: "execute_navigation" },
  ...{ params: { device_id, target_node }, depends_on },
});
const see = (index: number, device_id: On, text: string, depends_on: number[] = []) => ({
  ...{ index, objective: `${device_id} shows ${text}`, command: "text_visible", timeout_ms: 100 },
  ...{ params: { device_id, text }, depends_on },
});
const press = (index: number, device_id: On, depends_on: number[] = []) => ({
  ...{ index, objective: `Press on ${device_id}`, command: "press_key" },
  ...{ params: { device_id, key: "OK" }, depends_on },
});

const plans = async () => {
  const { structured } = await client.call("get_execution_results", { kind: "plan", max_tokens: 20_000 });
  return z
    .object({
      executions: z.array(
        z.looseObject({ execution_id: z.string(), status: z.string(), device: z.string().optional() }),
      ),
    })
    .parse(structured).executions;
};

describe("a plan for several devices", () => {
  test("runs each device's steps on it, in the order of depends_on across devices, as one execution", async () => {
    const { structured } = await run([
      go(1, "box", "Movies"),
      go(2, "other", "Settings", [1]),
      see(3, "box", "All movies", [2]),
    ]);
    expect(structured).toMatchObject({
      ...{
        success: true,
        status: "passed",
        message: expect.stringContaining("3 of 3 steps done, 3 verified"),
      },
      results: [
        { step: 1, action_type: "navigation", status: "completed" },
        { step: 2, status: "completed" },
        { step: 3, check: true, status: "completed" },
      ],
    });
    const { execution_id } = structured;
    const status = await client.call("get_execution_status", { execution_id });
    expect(status.structured).toMatchObject({ kind: "plan", status: "passed", verified_count: 3 });
    expect(status.structured.steps).toMatchObject([
      { step: "part1: lab/box: box to Movies" },
      { step: "part2: lab/other: other to Settings" },
      { step: "part3: lab/box: box shows All movies" },
    ]);
  });

  test("steps that do not depend on each other run side by side; a cancellation ends them all", async () => {
    const wait = { index: 1, objective: 'wait for text "Nowhere" for 60 s', params: { device_id: "box" } };
    const { structured } = await run([wait, see(2, "other", "Home")], { wait_ms: 0 });
    expect(structured).toMatchObject({ success: false, status: "running", results: [{}, {}] });
    const { execution_id } = structured;
    const onDevices = async () => {
      const [second, first] = (await plans()).filter(({ device }) => device !== undefined);
      return [first, second].map((one) => `${one?.device} ${one?.status}`).sort();
    };
    await expect.poll(onDevices, { timeout: 20_000 }).toEqual(["lab/box running", "lab/other passed"]);
    await client.call("cancel_execution", { execution_id });
    expect(await onDevices()).toEqual(["lab/box cancelled", "lab/other passed"]);
    const end = await client.call("get_execution_status", { execution_id, wait_ms: 10_000 });
    expect(end.structured).toMatchObject({ status: "cancelled" });
  });

  test("a step that fails skips what depends on it, and the other device's own steps are done", async () => {
    const { structured } = await run([
      see(1, "box", "Nowhere"),
      see(2, "other", "Home"),
      press(3, "other", [1]),
    ]);
    expect(structured).toMatchObject({
      ...{ success: false, status: "failed", reason: { message: expect.stringContaining("Nowhere") } },
      results: [{ status: "failed", check: true }, { status: "completed" }, { step: 3, status: "skipped" }],
    });
  });

  test("checks on one of the devices are enough, and none at all is no success", async () => {
    expect((await run([press(1, "box"), see(2, "other", "Home")])).structured.success).toBe(true);
    expect((await run([press(1, "box"), press(2, "other")])).structured).toMatchObject({
      ...{ success: false, status: "error", reason: { code: "NOTHING_VERIFIED" } },
    });
  });

  test("a device that another client holds fails its own step by name", async () => {
    const holder = await product.connect({ client: "holder" });
    await client.call("release_control", { device_id: "other" });
    const { structured: lease } = await holder.call("take_control", { device_id: "other" });
    expect(lease.device).toBe("lab/other");
    const { structured } = await run([see(1, "box", "Home"), press(2, "other")]);
    await holder.call("release_control", { session_id: lease.session_id });
    expect(structured).toMatchObject({
      ...{ success: false, status: "error", reason: { code: "DEVICE_HELD" } },
      results: [
        { status: "completed" },
        { status: "failed", message: expect.stringContaining("DEVICE_HELD") },
      ],
    });
  });

  test("the devices of the call are the only ones, the first where a step names none", async () => {
    const nameless = { index: 1, objective: "Home", command: "text_visible", params: { text: "Home" } };
    const { structured } = await run([nameless, see(2, "other", "Home")], {
      device_ids: ["lab/box", "other"],
    });
    expect(structured).toMatchObject({ success: true, verified_count: 2 });
  });

  test("where a device is, is believed of the device that the plan's steps name", async () => {
    const steps = [go(1, "other", "Movies")];
    expect((await run(steps, { current_node_id: "Settings" })).structured).toMatchObject({
      ...{ success: true, current_node: "Movies" },
    });
    const position = { userinterface_name: "box", device_id: "box" };
    expect((await client.call("get_current_position", position)).structured).toMatchObject({ node: "Home" });
  });

  test("no more devices run at the same time than limits.max_parallel_devices", async () => {
    const small = await openProduct(
      "devices: [{ name: box, model: simulated }, { name: other, model: simulated }]\nlimits: { max_parallel_devices: 1 }",
    );
    try {
      const user = await small.connect();
      await user.call("import_userinterface", { yaml: boxYaml("box") });
      const wait = { objective: 'wait for text "Nowhere" for 60 s' };
      const steps = [
        { ...wait, index: 1, params: { device_id: "box" } },
        { ...wait, index: 2, params: { device_id: "other" } },
      ];
      const plan = { userinterface_name: "box", plan: { task: "both", steps } };
      const { structured } = await user.call("execute_plan", { ...plan, wait_ms: 0 });
      const parts = async () => {
        const { structured: found } = await user.call("get_execution_results", { kind: "plan" });
        return [/"status":"running"/g, /"status":"queued"/g].map(
          (one) => JSON.stringify(found).match(one)?.length,
        );
      };
      // The plan itself and one part run.
      await expect.poll(parts, { timeout: 20_000 }).toEqual([2, 1]);
      await user.call("cancel_execution", { execution_id: structured.execution_id });
    } finally {
      await small.dispose();
    }
  });

  test.each([
    [
      "another device than the call's",
      [see(1, "box", "Home"), press(2, "other")],
      { device_id: "box" },
      "INVALID_PLAN",
      "step 2 drives other, which is not a device of this plan (lab/box)",
    ],
    [
      "another device than those of the call",
      [press(1, "other")],
      { device_ids: ["box"] },
      "INVALID_PLAN",
      "step 1 drives other",
    ],
    [
      "a device that is not there",
      [see(1, "box", "Home"), { ...press(2, "other"), params: { device_id: "third", key: "OK" } }],
      {},
      "DEVICE_NOT_FOUND",
      "third",
    ],
    [
      "an unknown command on the second device",
      [see(1, "box", "Home"), { ...press(2, "other"), command: "fly_away" }],
      {},
      "INVALID_PLAN",
      "fly_away",
    ],
    [
      "a circle across devices",
      [press(1, "box", [2]), press(2, "other", [1])],
      {},
      "INVALID_PLAN",
      "wait for each other",
    ],
    [
      "one place for two devices",
      [see(1, "box", "Home"), press(2, "other")],
      { current_node_id: "Home" },
      "INVALID_PLAN",
      "current_node_id",
    ],
  ])("%s is refused before anything runs", async (_, steps, args, code, message) => {
    const before = await plans();
    const { error } = await run(steps, args);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(await plans()).toEqual(before);
  });
});
