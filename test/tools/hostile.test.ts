import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { apis, documents, expressions, schemas } from "../fixtures/hostileInputs.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

let server: Awaited<ReturnType<typeof serve>>;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  server = await serve(({ url = "/" }, reply) => {
    const [, kind, at = ""] = url.split("/");
    const text = kind === "api" ? apis[Number(at)] : JSON.stringify(schemas[Number(at)]?.value);
    reply.setHeader("content-type", "application/json").end(text);
  });
  product = await openProduct("devices: [{ name: box, model: simulated }]\nlimits: { call_ms: 60000 }");
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await server.close();
});

/** Makes a call, and others that must end while it runs. The reply, and how many of the others ended before it. */
async function beside(name: string, args: Record<string, unknown>) {
  let hasEnded = false;
  const hostile = client.call(name, args).finally(() => {
    hasEnded = true;
  });
  let others = 0;
  for (; !hasEnded && others < 20; others++) {
    await client.call("list_devices", {});
    await setImmediate();
  }
  return { reply: await hostile, others };
}

const every = <T>(list: readonly T[], step: number): T[] => list.filter((_, at) => at % step === 0);

test.each(every(expressions, 9))("the expression $source ends with a clear error", async ({
  source,
  scope,
}) => {
  const testcase = {
    name: `hostile ${source.length} ${source.slice(0, 60)}`,
    variables: scope,
    ...chain([sees("look", "Welcome home"), { type: "condition", expression: source }]),
  };
  const saved = await client.call("save_testcase", { testcase });
  const { reply, others } = saved.error
    ? { reply: saved, others: 1 }
    : await beside("execute_testcase", { testcase: testcase.name, device_id: "box", wait_ms: 30_000 });
  expect(others).toBeGreaterThan(0);
  const { status, reason } = reply.structured;
  expect(reply.error?.code ?? Object(reason).code ?? status).toMatch(
    /^(passed|INVALID_INPUT|VERIFICATION_FAILED|EXECUTION_TIMEOUT|OUT_OF_MEMORY)$/,
  );
});

test.each(
  every(documents, 6).map((yaml) => [yaml.slice(0, 40), yaml]),
)("the document %j ends with a clear error", async (_, yaml) => {
  const { reply, others } = await beside("import_userinterface", { yaml });
  expect(others).toBeGreaterThan(0);
  expect(reply.error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringMatching(/line \d+, column \d+/),
  });
});

const ended = /^(INVALID_INPUT|INPUT_TOO_LARGE|EXECUTION_TIMEOUT|OUT_OF_MEMORY|API_\w+)$/;

test.each([2, 9, 14, 18])("the hostile JSON Schema %i ends, and holds no other call", async (at) => {
  const checks = [{ json_schema: schemas[at]?.schema }];
  const asked = { method: "GET", url: `${server.url}/value/${at}`, checks };
  const { reply, others } = await beside("execute_api_request", asked);
  expect(others).toBeGreaterThan(0);
  if (reply.error) expect(reply.error.code).toMatch(ended);
  else expect(reply.structured.checks).not.toHaveLength(0);
});

test.each([0, 2, 3])("the hostile description of an API %i ends, and holds no other call", async (at) => {
  const { reply, others } = await beside("import_api_spec", {
    replace: true,
    source: `${server.url}/api/${at}`,
  });
  expect(others).toBeGreaterThan(0);
  if (reply.error) expect(reply.error.code).toMatch(ended);
  else expect(reply.structured.operations).toBe(1);
});

test("arguments that are nested too deep, or too many, are refused", async () => {
  const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  const many = Array.from({ length: 300_000 }, () => 1);
  for (const testcase of [
    { name: "deep", steps: JSON.parse(deep) },
    { name: "many", steps: many },
  ])
    expect((await client.call("save_testcase", { testcase })).error).toMatchObject({
      code: "INPUT_TOO_LARGE",
    });
});
