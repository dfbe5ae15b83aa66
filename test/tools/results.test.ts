import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
const ids: string[] = [];
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect({ principal: "anna" });
  for (const [name, text] of [
    ["sees", "Welcome"],
    ["misses", "Nothing like it"],
  ] as const) {
    await client.call("save_testcase", { testcase: looking(name, text) });
    const { structured } = await client.call("execute_testcase", { testcase: name, build: "7" });
    ids.push(z.string().parse(structured.execution_id));
  }
});
afterAll(() => product.dispose());

const looking = (name: string, text: string) => ({ name, ...chain([sees("look", text)]) });
const results = async (args: Record<string, unknown> = {}) =>
  (await client.call("get_execution_results", args)).structured;
const analyze = (execution_id: string | undefined, more: Record<string, unknown> = {}) =>
  client.call("update_execution_analysis", {
    execution_id,
    classification: "BUG",
    confidence: 0.8,
    summary: "The text is missing",
    evidence: ["look"],
    ...more,
  });

test("get_execution_results finds runs newest first, counted by status, by every kind of filter", async () => {
  const [sees, misses] = ids;
  const tests = await results({ kind: "testcase" });
  expect(tests).toMatchObject({
    counts: { passed: 1, failed: 1 },
    executions: [
      {
        execution_id: misses,
        name: "misses",
        kind: "testcase",
        status: "failed",
        reason: "VERIFICATION_FAILED",
        device: "lab/box",
        duration_ms: expect.any(Number),
      },
      { execution_id: sees, status: "passed" },
    ],
  });
  expect(tests).not.toHaveProperty("more");
  expect(await results({ name: "sees", build: "7", device: "box", since: "2020-01-01" })).toMatchObject({
    counts: { passed: 1 },
    executions: [{ execution_id: sees }],
  });
  expect(await results({ until: "2020-01-01" })).toEqual({ counts: {}, executions: [] });
});

test("get_execution_results goes on where a page ended, though newer runs came in between", async () => {
  const pageSchema = z.object({
    executions: z.array(z.object({ execution_id: z.string() })),
    more: z.int().optional(),
    next: z.string().optional(),
  });
  const args = { kind: "testcase", build: "7", max_tokens: 50 };
  const first = pageSchema.parse(await results(args));
  expect(first).toMatchObject({ executions: [{ execution_id: ids[1] }], more: 1 });
  await client.call("execute_testcase", { testcase: "sees", build: "7" });
  const second = pageSchema.parse(await results({ ...args, before: first.next }));
  expect(second).toEqual({ executions: [{ execution_id: ids[0] }] });
});

test("get_execution_results refuses what is not a filter", async () => {
  for (const wrong of [
    { status: "green" },
    { classification: "bug" },
    { since: "last week" },
    { before: ids[0] },
    { max_tokens: 1 },
    { name: "" },
    { naem: "sees" },
  ]) {
    const { error } = await client.call("get_execution_results", wrong);
    expect(error, JSON.stringify(wrong)).toMatchObject({ code: "INVALID_INPUT" });
    expect(error?.message).toContain(Object.keys(wrong)[0]);
  }
});

test("get_analysis_queue_status judges what waits by its record, or one run, and says what someone judged it to be", async () => {
  const [sees, misses] = ids;
  const { structured } = await client.call("get_analysis_queue_status");
  expect(structured.judgements).toEqual(
    expect.arrayContaining([
      {
        ...{ execution_id: misses, kind: "testcase", name: "misses", status: "failed", decided: false },
        summary: "It failed once; that can be the app or the test.",
        evidence: [expect.stringContaining("VERIFICATION_FAILED")],
        reruns_wanted: 6,
        allowed: ["VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
        history: [],
      },
      expect.objectContaining({ execution_id: sees, decided: true, classification: "VALID_PASS" }),
    ]),
  );
  const again = await client.call("execute_testcase", { testcase: "sees", build: "7" });
  const one = { execution_id: z.string().parse(again.structured.execution_id) };
  const open = await client.call("get_analysis_queue_status", one);
  expect(open.structured.judgements).toEqual([
    {
      ...{ ...one, kind: "testcase", name: "sees", status: "passed", decided: true },
      ...{ classification: "VALID_PASS", confidence: 0.9, evidence: ["verified_count 1"] },
      summary: "Each step passed, 1 of them checks.",
    },
  ]);
  await analyze(one.execution_id, { classification: "SCRIPT_ISSUE" });
  const judged = await client.call("get_analysis_queue_status", one);
  expect(judged.structured.judgements).toMatchObject([{ ...one, classified: "SCRIPT_ISSUE" }]);
  const gone = await client.call("get_analysis_queue_status", { execution_id: "nope" });
  expect(gone.error).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
});

test("update_execution_analysis takes a run out of get_analysis_queue_status, and get_execution_results finds it", async () => {
  const [sees, misses] = ids;
  const queue = z.object({ awaiting: z.int(), next: z.array(z.string()), classified: z.unknown() });
  const before = queue.parse((await client.call("get_analysis_queue_status")).structured);
  expect(before.next.slice(0, 2)).toEqual([misses, sees]);
  const { structured } = await analyze(misses);
  expect(structured).toEqual({
    execution_id: misses,
    name: "misses",
    status: "failed",
    classification: "BUG",
  });
  const after = queue.parse((await client.call("get_analysis_queue_status")).structured);
  expect(after).toMatchObject({ awaiting: before.awaiting - 1, classified: { BUG: 1 } });
  expect(after.next).not.toContain(misses);
  expect(await results({ classification: "BUG" })).toMatchObject({
    executions: [{ execution_id: misses, classification: "BUG" }],
  });
  const events = await product.events.read({ after: 0, limit: 1_000 });
  expect(events.at(-1)).toMatchObject({ type: "execution.analyzed", execution_id: misses });
  const changed = await analyze(misses, { classification: "VALID_FAIL" });
  expect(changed.structured).toMatchObject({ classification: "VALID_FAIL", before: "BUG" });
});

test("update_execution_analysis refuses what contradicts the verdict, a run that goes on, and bad values", async () => {
  const [sees] = ids;
  expect((await analyze(sees)).error).toMatchObject({ code: "INVALID_INPUT" });
  expect((await analyze("nope")).error).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
  for (const bad of [
    { confidence: 1.1 },
    { summary: " " },
    { evidence: "look" },
    { classification: "FLAKY" },
    { evidence: Array.from({ length: 51 }, () => "e") },
  ]) {
    expect((await analyze(sees, { classification: "VALID_PASS", ...bad })).error).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining(Object.keys(bad)[0] ?? ""),
    });
  }
  const { blocks, edges } = looking("sleeps", "Welcome");
  const [start, ...rest] = blocks;
  const testcase = {
    name: "sleeps",
    blocks: [start, { id: "nap", type: "sleep", duration_ms: 600_000 }, ...rest],
    edges: [{ from: "start", to: "nap" }, { from: "nap", to: "look" }, ...edges.slice(1)],
  };
  await client.call("save_testcase", { testcase });
  const { structured } = await client.call("execute_testcase", { testcase: "sleeps", wait_ms: 0 });
  const running = z.string().parse(structured.execution_id);
  expect((await analyze(running)).error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("running"),
  });
  expect(await results({ status: "running" })).toMatchObject({ executions: [{ execution_id: running }] });
  await client.call("cancel_execution", { execution_id: running });
  const queue = await client.call("get_analysis_queue_status", { since: "not a time" });
  expect(queue.error).toMatchObject({ code: "INVALID_INPUT" });
});
