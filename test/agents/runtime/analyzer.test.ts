import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { startRuntime } from "#mcp-server/agents/runtime/startRuntime.ts";
import type { RunSkill } from "#mcp-server/agents/runtime/types.ts";
import { hasSandbox } from "../../fixtures/sandbox.ts";
import { boxYaml } from "../../services/apps/navigation/lab.ts";
import { endOf } from "./ends.ts";
import { type Lab, openLab, runtimeOn, shipped } from "./lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab("devices: [{ name: box, model: simulated }]");
  for (const [name, text] of tests) await lab.call("save_testcase", { testcase: looking(name, text) });
});
afterAll(() => lab.end());

const tests = [
  ["sees", "Welcome"],
  ["misses", "Nothing of the kind"],
  ["wobbles", "Now playing"],
  ["lonely", "Lonely text on no screen"],
  ["asked", "Asked for in vain"],
  ["stubborn", "Still not there"],
  ["alike 1", "Sign in"],
  ["alike 2", "Sign in"],
  ["alike 3", "Sign in"],
] as const;

const looking = (name: string, text: string) => ({
  name,
  blocks: [
    { id: "start", type: "start" },
    { id: "look", type: "verification", command: "text_visible", params: { text }, timeout_ms: 0 },
    { id: "done", type: "success" },
  ],
  edges: [
    { from: "start", to: "look" },
    { from: "look", to: "done" },
  ],
});

const within = { timeout: 30_000, interval: 50 };

async function start(more: Parameters<typeof runtimeOn>[2] = {}, config = {}) {
  const deps = runtimeOn(await lab.server(), [shipped("analyzer", config)], more);
  const runtime = startRuntime(deps);
  onTestFinished(() => runtime.close());
  return { ...deps, runtime };
}

async function run(testcase: string, build?: string): Promise<string> {
  const { structured, text } = await lab.call("execute_testcase", {
    testcase,
    ...(build !== undefined && { build }),
  });
  return z.string({ error: text }).parse(structured.execution_id);
}
const press = (key: string) =>
  lab.call("execute_device_action", { actions: [{ command: "press_key", params: { key } }] });

const taskOf = async (id: string) => (await lab.tasks()).find(({ event }) => event.execution_id === id);
const isDone = (id: string) => expect.poll(async () => (await taskOf(id))?.state, within).toBe("done");
const lineSchema = z.object({ execution_id: z.string(), classification: z.string().optional() });
async function classOf(id: string) {
  const { structured } = await lab.call("get_execution_results", { max_tokens: 50_000 });
  const lines = z.array(lineSchema).parse(structured.executions);
  return lines.find(({ execution_id }) => execution_id === id)?.classification;
}
const analyses = async (id: string) =>
  (await lab.events("execution.analyzed"))
    .filter((event) => event.execution_id === id)
    .map(({ payload }) => payload);

test("a pass is judged right, without a model", async () => {
  await start();
  const id = await run("sees", "1");
  await isDone(id);
  expect(await analyses(id)).toEqual([
    expect.objectContaining({ classification: "VALID_PASS", name: "sees" }),
  ]);
});

test("a failure that one run cannot explain stays in the queue, with the reruns that would", async () => {
  await start();
  const id = await run("lonely", "1");
  await isDone(id);
  expect((await taskOf(id))?.finding).toMatchObject({
    judgements: [],
    undecided: "It failed once; that can be the app or the test.",
    reruns_wanted: expect.any(Number),
  });
  expect(await classOf(id)).toBeUndefined();
  const { structured } = await lab.call("get_analysis_queue_status");
  expect(structured.next).toContain(id);
});

test("a pass of the same build shows that the failure before it was a flake, and judges both", async () => {
  await start();
  const failed = await run("wobbles", "1");
  await isDone(failed);
  expect(await classOf(failed)).toBeUndefined();
  await press("OK");
  const passed = await run("wobbles", "1");
  await press("HOME");
  await isDone(passed);
  expect(await analyses(failed)).toEqual([
    expect.objectContaining({
      classification: "SCRIPT_ISSUE",
      summary: expect.stringMatching(/^Flaky: 1 of 2 runs/),
    }),
  ]);
  expect(await analyses(passed)).toEqual([expect.objectContaining({ classification: "VALID_PASS" })]);
  expect((await taskOf(passed))?.finding).toMatchObject({ flaky: true });
});

test("a pass of another build does not", async () => {
  await start();
  await press("OK");
  const passed = await run("wobbles", "2");
  await press("HOME");
  const failed = await run("wobbles", "3");
  await isDone(failed);
  expect(await classOf(passed)).toBe("VALID_PASS");
  expect(await classOf(failed)).toBeUndefined();
});

test("failing the same way again and again is a right verdict in the end, for every run of the row", async () => {
  await start();
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    const id = await run("stubborn", "1");
    await isDone(id);
    ids.push(id);
  }
  const next = await run("stubborn", "2");
  await isDone(next);
  for (const id of [...ids, next]) expect(await classOf(id)).toBe("VALID_FAIL");
  expect((await taskOf(ids[0] ?? ""))?.finding).toMatchObject({ reruns_wanted: 6 });
});

test("three tests that fail alike are judged once, as one cause", async () => {
  await start();
  const ids: string[] = [];
  for (const name of ["alike 1", "alike 2", "alike 3"]) ids.push(await run(name, "1"));
  for (const id of ids) await isDone(id);
  for (const id of ids)
    expect(await analyses(id)).toEqual([
      expect.objectContaining({
        classification: "BUG",
        summary: expect.stringMatching(/^One cause: 3 tests/),
      }),
    ]);
});

test("a run that a person has judged is left alone", async () => {
  const id = await run("misses", "1");
  const judgement = {
    classification: "SCRIPT_ISSUE",
    confidence: 1,
    summary: "My test is wrong",
    evidence: [],
  };
  await lab.call("update_execution_analysis", { execution_id: id, ...judgement });
  await start();
  await isDone(id);
  expect((await taskOf(id))?.finding).toEqual({ left_alone: "It has a judgement already." });
  expect(await analyses(id)).toEqual([expect.objectContaining({ summary: "My test is wrong" })]);
});

test("a dry run judges and writes nothing", async () => {
  const { runtime } = await start({}, { dry_run: true });
  const id = await run("sees", "dry");
  await isDone(id);
  await runtime.close();
  expect((await taskOf(id))?.finding).toMatchObject({
    would: [`update_execution_analysis ${id} VALID_PASS`],
  });
  expect(await classOf(id)).toBeUndefined();
});

const model = (outcome: unknown): RunSkill =>
  vi.fn(async () => ({ end: endOf("done"), ...(outcome !== undefined && { outcome }) }));
const answer = { classification: "BUG", confidence: 0.8, summary: "The text is gone.", evidence: ["look"] };

test("what the record does not decide is asked of a model, by the skill for one run or for several", async () => {
  const runSkill = model(answer);
  await start({ runSkill });
  const first = await run("asked", "1");
  await isDone(first);
  expect(await analyses(first)).toEqual([
    expect.objectContaining({ classification: "BUG", confidence: 0.8 }),
  ]);
  const second = await run("asked", "1");
  await isDone(second);
  const passed = await run("sees", "1");
  await isDone(passed);
  expect(vi.mocked(runSkill).mock.calls.map(([{ skill }]) => skill)).toEqual([
    "validate-result",
    "detect-false-positive",
  ]);
});

test.each([
  ["none", undefined],
  ["one that contradicts the verdict", { ...answer, classification: "VALID_PASS" }],
  ["one of another form", { ...answer, confidence: 7 }],
])("an answer of a model that cannot be used (%s) is inconclusive, and nothing is written", async (what, outcome) => {
  await lab.call("save_testcase", { testcase: looking(`odd ${what}`, `No screen shows this, ${what}`) });
  await start({ runSkill: model(outcome) });
  const id = await run(`odd ${what}`, "1");
  await isDone(id);
  expect((await taskOf(id))?.finding).toMatchObject({
    judgements: [],
    undecided: expect.stringMatching(/^inconclusive: /),
  });
  expect(await classOf(id)).toBeUndefined();
});

test("a deployment's run is summed up, and the report reported", async () => {
  await start();
  await lab.call("release_control", { device_id: "box" });
  await lab.product.services.deployments.start();
  const due = new Date(Date.now() + 3_000).toISOString();
  const made = await lab.call("create_deployment", {
    name: "soon",
    testcase: "sees",
    device_id: "box",
    dates: [due],
  });
  expect(made.error).toBeUndefined();
  await vi.waitFor(async () => {
    const reports = await lab.events("agent.report");
    expect(reports.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({
        agent: "analyzer",
        event: "deployment.execution_done",
        summary: expect.stringMatching(/^soon: this run passed .*; of the last 1: 1 passed\.$/),
        figures: { passed: 1 },
      }),
    ]);
  }, within);
});

test.runIf(hasSandbox)("a script that passed is judged too", async () => {
  await lab.call("import_userinterface", { yaml: boxYaml("tv_app") });
  await start();
  const args = { script: "goto", args: ["Movies"], device_id: "box", userinterface_name: "tv_app" };
  const { structured, text } = await lab.call("execute_script", { ...args, wait_ms: 60_000 });
  const id = z.string({ error: text }).parse(structured.execution_id);
  await isDone(id);
  expect(await taskOf(id)).toMatchObject({ event: { type: "script.completed" } });
  expect(await analyses(id)).toEqual([expect.objectContaining({ classification: "VALID_PASS" })]);
  await lab.call("release_control", { device_id: "box" });
});
