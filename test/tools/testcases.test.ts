import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, click, sees } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
});
afterAll(() => product.dispose());
const goHome = () =>
  client.call("execute_device_action", { actions: [{ command: "press_key", params: { key: "HOME" } }] });
beforeEach(goHome);

/** Opens a screen by its button and looks for a text. */
const opens = (name: string, more = {}) => ({
  ...{ name, inputs: [{ name: "screen", default: "Movies" }] },
  ...chain([click("open", "{{screen}}"), sees("look", "All movies")]),
  ...more,
});
const save = (testcase: object, more = {}) => client.call("save_testcase", { testcase, ...more });
const run = (testcase: string, more = {}) => client.call("execute_testcase", { testcase, ...more });

test("save_testcase saves, load_testcase gives it back in the form that it takes", async () => {
  const saved = await save(opens("first", { tags: ["smoke"] }), { device_id: "box" });
  expect(saved.structured).toMatchObject({ name: "first" });
  const loaded = await client.call("load_testcase", { testcase: "first" });
  expect(loaded.structured).toMatchObject({ id: saved.structured.id, testcase: { tags: ["smoke"] } });
  const again = await save(Object(loaded.structured.testcase), { replace: true });
  expect(again.structured).toMatchObject({ created: false });
});

test("what is stored is overwritten only with replace: true, by whatever tool", async () => {
  const other = opens("taken", { description: "another's" });
  const testOf = async () => (await client.call("load_testcase", { testcase: "taken" })).structured.testcase;
  await save(opens("taken"));
  const mine = await testOf();
  const yaml = JSON.stringify({ tests: [other, opens("beside it")] });
  const app = JSON.stringify({ name: "new app", models: ["simulated"], tests: [other] });
  const load = { project: product.config.data_dir, files: [], folders: [""] };
  for (const [tool, args] of [
    ["save_testcase", { testcase: other }],
    ["import_userinterface", { yaml }],
    ["import_userinterface", { yaml: app }],
  ] as const)
    expect((await client.call(tool, args)).error, tool).toMatchObject({
      code: "ALREADY_EXISTS",
      hint: expect.stringContaining("replace: true"),
      details: { would_replace: ["taken"] },
    });
  expect((await client.call("import_userinterface", { load })).error?.code).toBe("CONFIRMATION_REQUIRED");
  expect(await testOf()).toEqual(mine);
  expect((await client.call("load_testcase", { testcase: "beside it" })).error?.code).toBe(
    "TESTCASE_NOT_FOUND",
  );
  expect((await save(opens("taken"))).structured).toMatchObject({ created: false });
  expect((await client.call("import_userinterface", { yaml, replace: true })).error).toBeUndefined();
  expect(await testOf()).toMatchObject({ description: "another's" });
  expect((await save(opens("taken"), { replace: true })).structured).toMatchObject({ created: false });
  expect(await testOf()).toEqual(mine);
});

test("save_testcase names everything that is wrong at once, the device's commands included", async () => {
  const bad = opens("bad");
  bad.blocks.splice(1, 1, {
    id: "open",
    type: "action",
    command: "clik_element",
    params: { selector: "{{scren}}" },
  });
  const { isError, error, text } = await save({ ...bad, edges: bad.edges.slice(0, 2) }, { device_id: "box" });
  expect(isError).toBe(true);
  expect(error?.code).toBe("TESTCASE_INVALID");
  for (const part of ["clik_element", "click_element", "{{scren}}", "cannot be reached"])
    expect(text).toContain(part);
  expect((await client.call("load_testcase", { testcase: "bad" })).error).toMatchObject({
    code: "TESTCASE_NOT_FOUND",
  });
});

test("execute_testcase passes with evidence and fails with expected, found and the step", async () => {
  await save(opens("verdicts"));
  expect((await run("verdicts")).structured).toMatchObject({
    status: "passed",
    verified_count: 1,
    steps_done: 2,
  });
  await goHome();
  const failed = await run("verdicts", { inputs: { screen: "Live TV" }, environment: "staging" });
  expect(failed.isError).toBe(false);
  expect(failed.structured).toMatchObject({
    status: "failed",
    reason: { code: "VERIFICATION_FAILED" },
    failed_step: {
      path: "look",
      expected: 'the screen shows "All movies"',
      evidence: [expect.stringContaining("artifact://")],
    },
  });
  const missing = await run("verdicts", { inputs: { screen: "Nowhere" } });
  expect(missing.structured).toMatchObject({ status: "failed", failed_step: { dispatched: "no" } });
  const status = await client.call("get_execution_status", { execution_id: failed.structured.execution_id });
  expect(status.structured).toMatchObject({
    kind: "testcase",
    status: "failed",
    steps: [{ n: 1, status: "passed" }, { n: 2 }],
  });
});

test("execute_testcase refuses wrong inputs, an unknown test case, and a call that names neither", async () => {
  await save(opens("asked"));
  expect((await run("asked", { inputs: { scren: 1 } })).error).toMatchObject({ code: "INVALID_INPUT" });
  expect((await run("askd")).error).toMatchObject({
    code: "TESTCASE_NOT_FOUND",
    hint: expect.stringContaining("asked"),
  });
  expect((await client.call("execute_testcase", {})).error).toMatchObject({ code: "INVALID_INPUT" });
});

test("a run that outlives wait_ms is waited for by its id, and stopped by cancel_execution", async () => {
  const endless = opens("endless");
  endless.blocks.splice(1, 1, { id: "open", type: "sleep", duration_ms: 600_000 });
  await save(endless);
  const started = await run("endless", { wait_ms: 0 });
  expect(started.structured).toMatchObject({ status: "running" });
  const { execution_id } = started.structured;
  const old = await client.call("execute_testcase", { execution_id, wait_ms: 60_000 });
  const call = JSON.stringify({ execution_id, wait_ms: 60_000 });
  expect(old.error).toMatchObject({
    code: "INVALID_INPUT",
    hint: `Send this in its place:\nget_execution_status ${call}`,
  });
  const waiting = client.call("get_execution_status", { execution_id, wait_ms: 60_000 });
  const cancelled = await client.call("cancel_execution", { execution_id });
  expect(cancelled.structured).toMatchObject({ status: "cancelled", reason: { code: "CANCELLED" } });
  expect((await waiting).structured).toMatchObject({ status: "cancelled", execution_id });
  expect((await client.call("cancel_execution", { execution_id: "nope" })).error).toMatchObject({
    code: "EXECUTION_NOT_FOUND",
  });
});

test("list_testcases filters; rename_testcase and delete_testcase change what is there, the latter only confirmed", async () => {
  await save(opens("to rename", { tags: ["listed"] }));
  const listed = await client.call("list_testcases", { tag: "listed" });
  expect(listed.structured).toMatchObject({ testcases: [{ name: "to rename", inputs: ["screen"] }] });
  const renamed = await client.call("rename_testcase", { testcase: "to rename", new_name: "renamed" });
  expect(renamed.structured).toMatchObject({ name: "renamed", callers: [] });
  expect((await client.call("delete_testcase", { testcase: "renamed" })).error).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
  });
  const gone = await client.call("delete_testcase", { testcase: "renamed", confirm: true });
  expect(gone.structured).toMatchObject({ name: "renamed" });
  expect((await client.call("list_testcases", { tag: "listed" })).structured).toEqual({ testcases: [] });
});

test("a test case in steps is saved, comes back in steps, runs, and is reported in its words", async () => {
  const steps = [
    'click "Movies"',
    { not: { text_visible: { text: "Nothing", match: "same" } } },
    { repeat: 2, steps: ["press DOWN"] },
    'check text "All movies"',
  ];
  const saved = await save({ name: "in steps", covers: ["TV-1"], steps }, { device_id: "box" });
  expect(saved.structured).toMatchObject({ name: "in steps", created: true });
  const { structured } = await client.call("load_testcase", { testcase: "in steps" });
  const { testcase } = structured;
  expect(testcase).toEqual({ name: "in steps", covers: ["TV-1"], steps });
  expect((await save(Object(testcase))).structured).toMatchObject({ created: false });
  expect((await run("in steps")).structured).toMatchObject({ status: "passed", steps_done: 6 });
  await goHome();
  await save({ name: "wrong words", steps: ['click "Live TV"', 'wait for text "All movies" for 1 ms'] });
  expect((await run("wrong words")).structured).toMatchObject({
    status: "failed",
    failed_step: { path: "s2", label: 'wait for text "All movies" for 1 ms' },
  });
});

test("what is wrong with steps is reported with their places, whatever finds it", async () => {
  const wrong = async (steps: unknown[], more = {}) =>
    (await save({ name: "wrong steps", steps, ...more })).error;
  expect(await wrong(["reload", "danse", { clik_element: {} }])).toMatchObject({
    code: "TESTCASE_INVALID",
    message: expect.stringMatching(
      /^wrong steps: steps\[1\]: danse: not understood; nearest: .*; steps\[2\]: unknown command .*did you mean "click_element"\?/,
    ),
  });
  // The shape of the block, an unknown variable, another test and the device's own commands.
  const loop = { repeat: 0, steps: ['check text "A"'] };
  expect((await wrong(["reload", loop]))?.message).toContain("steps[1]: iterations: must be at least");
  const inner = { repeat: 2, steps: ['check text "{{nobody}}"'] };
  expect((await wrong([inner]))?.message).toContain("steps[0].steps[0]: ");
  expect((await wrong([{ call: "nobody" }]))?.message).toContain('steps[0]: there is no test case "nobody"');
  const press = { name: "wrong steps", steps: ["press FIRE", 'check text "A"'] };
  expect((await save(press, { device_id: "box" })).error?.message).toMatch(
    /^wrong steps: steps\[0\]: .*FIRE/,
  );
  expect((await wrong([], { step: [] }))?.message).toContain('unknown key "step"; did you mean "steps"?');
  expect((await wrong([], { app: "nowhere" }))?.message).toContain("userinterface_name");
  expect((await client.call("load_testcase", { testcase: "wrong steps" })).error?.code).toBe(
    "TESTCASE_NOT_FOUND",
  );
});
