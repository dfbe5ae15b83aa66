import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect({ principal: "anna" });
  await product.services.testcases.save(
    {
      name: "Login works",
      inputs: [{ name: "user", required: true }],
      ...chain([sees("see", "Welcome home")]),
    },
    {},
  );
});
afterAll(() => product.dispose());

/** Due once a year, so that nothing runs while the tests do. */
const yearly = { testcase: "Login works", inputs: { user: "eva" }, cron: "30 3 1 1 *" };
const create = (args: Record<string, unknown>) => client.call("create_deployment", args);
const list = async (args: Record<string, unknown> = {}) =>
  z
    .object({ deployments: z.array(z.record(z.string(), z.unknown())), more: z.int().optional() })
    .parse((await client.call("list_deployments", args)).structured);

test("create_deployment says when it is due, in UTC and in its zone, and list_deployments shows it", async () => {
  const { structured, text } = await create({ name: "yearly", timezone: "Europe/Paris", ...yearly });
  expect(structured).toEqual({
    deployment_id: expect.any(String),
    name: "yearly",
    status: "active",
    device_id: "lab/box",
    next_due: expect.stringMatching(/-01-01T02:30:00\.000Z$/),
    next_due_local: expect.stringMatching(/-01-01T03:30:00\+01:00$/),
  });
  expect(text).toContain(String(structured.deployment_id));
  expect((await list()).deployments).toEqual([
    {
      deployment_id: structured.deployment_id,
      name: "yearly",
      status: "active",
      device_id: "lab/box",
      next_due: structured.next_due,
      testcase: "Login works",
      cron: "30 3 1 1 *",
      timezone: "Europe/Paris",
      started: 0,
    },
  ]);
  expect(await product.services.deployments.pending()).toBe(1);
});

test("create_deployment names every problem at once and stores nothing", async () => {
  const { error } = await create({
    name: "yearly",
    testcase: "Login work",
    script: "nope.py",
    device_id: "boxx",
    cron: "61 * * * *",
    timezone: "Europe/Pari",
    dates: ["2020-01-01"],
    starts_at: "2090-01-02",
    ends_at: "2090-01-01",
    userinterface_name: "shop",
  });
  expect(error?.code).toBe("INVALID_INPUT");
  for (const part of [
    "not both",
    "minute: 61",
    "Europe/Paris",
    "2020-01-01T00:00:00.000Z is past",
    "before starts_at",
    'a deployment "yearly" already',
    '"Login works"',
    "no script",
    "Nearest: box",
    "shop",
  ])
    expect(error?.message).toContain(part);
  expect((await list()).deployments).toHaveLength(1);
});

test("create_deployment gives a single problem its own code", async () => {
  const refused: [Record<string, unknown>, string, string][] = [
    [{ ...yearly, testcase: "Login work" }, "TESTCASE_NOT_FOUND", "Login works"],
    [{ script: "nope.py", cron: yearly.cron }, "SCRIPT_NOT_FOUND", "nope.py"],
    [{ ...yearly, device_id: "boxx" }, "DEVICE_NOT_FOUND", "Nearest: box"],
    [{ ...yearly, userinterface_name: "shop" }, "USERINTERFACE_NOT_FOUND", "shop"],
    [{ ...yearly, name: "yearly" }, "ALREADY_EXISTS", "yearly"],
    [{ ...yearly, inputs: {} }, "INVALID_INPUT", 'needs the input "user"'],
    [{ ...yearly, inputs: { user: "{{secret.NOPE}}" } }, "SECRET_NOT_FOUND", "NOPE"],
    [{ ...yearly, cron: undefined }, "INVALID_INPUT", "give cron, dates or both"],
    [{ ...yearly, cron: "0 0 30 2 *" }, "INVALID_INPUT", "never due"],
    [{ ...yearly, dates: ["soon"] }, "INVALID_INPUT", "not a time"],
    [{ ...yearly, timezon: "UTC" }, "INVALID_INPUT", "timezon is called timezone"],
    [{ cron: yearly.cron }, "INVALID_INPUT", "give testcase or script"],
  ];
  for (const [args, code, part] of refused) {
    const { error } = await create({ name: "refused", ...args });
    expect(error, JSON.stringify(args)).toMatchObject({ code });
    expect(error?.message).toContain(part);
  }
  expect((await list()).deployments).toHaveLength(1);
});

test("update_deployment changes what is given, clears what is null, and refuses what would be wrong", async () => {
  const update = (changes: Record<string, unknown>) =>
    client.call("update_deployment", { deployment: "yearly", changes });
  expect(
    (await update({ timezone: null, max_executions: 5, dates: ["2090-06-01"] })).structured,
  ).toMatchObject({
    next_due: expect.stringMatching(/-01-01T03:30:00\.000Z$/),
  });
  expect((await list()).deployments[0]).toMatchObject({ max_executions: 5, dates: 1, timezone: "UTC" });
  expect((await update({ dates: null, max_executions: null })).isError).toBe(false);
  expect((await list()).deployments[0]).not.toHaveProperty("max_executions");
  expect((await update({ max_execution: 3 })).error?.message).toContain('did you mean "max_executions"?');
  expect((await update({ cron: "never" })).error).toMatchObject({ code: "INVALID_INPUT" });
  const gone = await client.call("update_deployment", { deployment: "yearli", changes: {} });
  expect(gone.error).toMatchObject({ code: "DEPLOYMENT_NOT_FOUND", hint: 'Did you mean "yearly"?' });
});

test("pause_deployment and resume_deployment take the due time away and bring it back, each once", async () => {
  for (const _ of ["once", "again"]) {
    const { structured } = await client.call("pause_deployment", { deployment: "yearly" });
    expect(structured).toMatchObject({ status: "paused" });
    expect(structured).not.toHaveProperty("next_due");
  }
  expect((await list({ status: "active" })).deployments).toEqual([]);
  expect(await product.services.deployments.pending()).toBe(0);
  for (const _ of ["once", "again"]) {
    const { structured } = await client.call("resume_deployment", { deployment: "yearly" });
    expect(structured).toMatchObject({ status: "active", next_due: expect.any(String) });
  }
});

test("get_deployment_history shows what a date ran, and delete_deployment asks before that goes", async () => {
  const soon = new Date(Date.now() + 1_500).toISOString();
  const { testcase, inputs } = yearly;
  const made = await create({ name: "soon", testcase, inputs, dates: [soon] });
  expect(made.structured).toMatchObject({ status: "active", next_due: soon });
  const history = async (args: Record<string, unknown> = {}) =>
    (await client.call("get_deployment_history", { deployment: "soon", ...args })).structured;
  await expect
    .poll(() => history({ status: "passed" }), { timeout: 30_000, interval: 100 })
    .toMatchObject({
      deployment_id: made.structured.deployment_id,
      call: { tool: "execute_testcase", arguments: { testcase, inputs, device_id: "lab/box" } },
      runs: [
        { due_at: soon, status: "passed", execution_id: expect.any(String), finished_at: expect.any(String) },
      ],
    });
  expect(await history({ status: "failed" })).toMatchObject({ runs: [] });
  expect((await list({ status: "completed" })).deployments).toMatchObject([{ name: "soon", last: "passed" }]);
  expect((await client.call("resume_deployment", { deployment: "soon" })).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("is over"),
  });

  const asked = await client.call("delete_deployment", { deployment: "soon" });
  expect(asked.error).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
    details: { would_delete: ["soon"], runs: 1 },
  });
  const deleted = await client.call("delete_deployment", { deployment: "soon", confirm: true });
  expect(deleted.structured).toMatchObject({ name: "soon", runs: 1 });
  expect((await client.call("get_deployment_history", { deployment: "soon" })).error).toMatchObject({
    code: "DEPLOYMENT_NOT_FOUND",
  });
});

test("list_deployments says how many it does not show", async () => {
  for (let i = 0; i < 6; i++) await create({ ...yearly, name: `one of many, number ${i}` });
  const { deployments, more = 0 } = await list({ max_tokens: 150 });
  expect(deployments.length).toBeGreaterThan(0);
  expect(deployments.length + more).toBe(7);
});
