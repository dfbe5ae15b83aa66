import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

let product: Product;
let client: TestClient;
let executionId: string;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  const testcase = { name: "looks", ...chain([sees("look", "Welcome")]) };
  await client.call("save_testcase", { testcase });
  const { structured } = await client.call("execute_testcase", { testcase: "looks", build: "7" });
  executionId = z.string().parse(structured.execution_id);
});
afterAll(() => product.dispose());

const shapes = {
  html: { name: "report.html", mimeType: "text/html", holds: "<!doctype html>" },
  junit: { name: "junit.xml", mimeType: "application/xml", holds: '<testcase name="looks"' },
  ctrf: { name: "ctrf.json", mimeType: "application/json", holds: '"reportFormat": "CTRF"' },
} as const;

test.each(
  Object.entries(shapes),
)("get_execution_report makes %s, linked and readable as a resource", async (format, shape) => {
  const { structured, raw } = await client.call("get_execution_report", {
    execution_id: executionId,
    format,
  });
  expect(structured).toMatchObject({ tests: 1, passed: 1, failed: 0 });
  const uri = z.string().parse(structured.report);
  expect(raw.content).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: "resource_link", uri, name: shape.name, mimeType: shape.mimeType }),
    ]),
  );
  const { contents } = await client.client.readResource({ uri });
  const [part] = contents;
  const text = part && "blob" in part ? Buffer.from(part.blob, "base64").toString("utf8") : part?.text;
  expect(text).toContain(shape.holds);
});

test("get_execution_report judges a single run of a test, and nothing else", async () => {
  const of = async (execution_id: unknown) =>
    (await client.call("get_execution_report", { execution_id, format: "ctrf" })).structured;
  expect((await of(executionId)).judgement).toEqual({
    ...{ execution_id: executionId, kind: "testcase", name: "looks", status: "passed", decided: true },
    ...{ classification: "VALID_PASS", confidence: 0.9, evidence: ["verified_count 1"] },
    summary: "Each step passed, 1 of them checks.",
  });
  expect(await of([executionId, executionId])).not.toHaveProperty("judgement");
  const actions = [{ command: "press_key", params: { key: "HOME" } }];
  const pressed = await client.call("execute_device_action", { actions });
  expect(await of(pressed.structured.execution_id)).not.toHaveProperty("judgement");
});

test("get_execution_report joins several runs, and names one that is not there", async () => {
  const twice = await client.call("get_execution_report", {
    execution_id: [executionId, executionId],
    format: "junit",
  });
  expect(twice.structured).toMatchObject({ tests: 2, passed: 2 });
  const gone = await client.call("get_execution_report", { execution_id: "nope" });
  expect(gone.error).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
});

test("get_execution_status shows the steps, fewer in fewer tokens, and cancel_execution leaves a verdict alone", async () => {
  const whole = await client.call("get_execution_status", { execution_id: executionId, wait_ms: 1_000 });
  expect(whole.structured).toMatchObject({
    status: "passed",
    name: "looks",
    steps: [{ n: 1, status: "passed" }],
  });
  const none = await client.call("get_execution_status", { execution_id: executionId, max_tokens: 50 });
  expect(none.structured).toMatchObject({ status: "passed" });
  const ended = await client.call("cancel_execution", { execution_id: executionId });
  expect(ended.structured).toMatchObject({ status: "passed" });
});
