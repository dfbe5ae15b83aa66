import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { type Hostile, hostileInputs, serveHostile } from "../fixtures/hostile/index.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const site = await serveHostile();
let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]\nlimits: { call_ms: 60000 }");
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});

/** Makes calls, and others that must end meanwhile. The last reply or the first error, and how many of the others ended before it. */
async function beside({ calls }: Hostile) {
  let hasEnded = false;
  const send = async () => {
    let reply: Awaited<ReturnType<TestClient["call"]>> | undefined;
    for (const { tool, input } of calls) if (!reply?.error) reply = await client.call(tool, { ...input });
    return reply;
  };
  const hostile = send().finally(() => {
    hasEnded = true;
  });
  let others = 0;
  for (; !hasEnded && others < 20; others++) {
    expect((await client.call("list_hosts", {})).error).toBeUndefined();
    await setImmediate();
  }
  return { reply: await hostile, others };
}

const inputs = hostileInputs(site);

test("there are at least 200 different hostile inputs", () => {
  expect(new Set(inputs.map(({ calls }) => JSON.stringify(calls))).size).toBeGreaterThanOrEqual(200);
});

/** Every so many of a kind. Those that need a browser are tried in `test/controllers/web`. */
const some = (kind: Hostile["kind"], step: number) =>
  inputs
    .filter((input) => input.kind === kind)
    .filter(({ calls }) => calls.every(({ tool }) => tool !== "verify_device_state"))
    .filter((_, at) => at % step === 0);

const refused =
  /^(INVALID_INPUT|INPUT_TOO_LARGE|INVALID_PARAMS|EXECUTION_TIMEOUT|OUT_OF_MEMORY|TESTCASE_INVALID|API_\w+)$/;

test.each([
  ...some("pattern", 32),
  ...some("expression", 9),
  ...some("document", 6),
  ...some("schema", 7),
  ...inputs.filter(({ name }) => name === "OpenAPI: a deep part"),
])("the hostile $kind $name ends, and holds no other call", async (input) => {
  const { reply, others } = await beside(input);
  expect(others).toBeGreaterThan(0);
  if (reply?.error) expect(reply.error.code).toMatch(refused);
});

test.each([
  ["an object in objects", "{a: ".repeat(100_000), "line 1, column 406: It is nested deeper than 100 levels"],
  [
    "a list of 60,000",
    `a:\n${"- 1\n".repeat(60_000)}`,
    "line 50002, column 1: There are more than 50000 values",
  ],
])("YAML with %s is refused where it becomes too much, before it is parsed", async (_, yaml, problem) => {
  const { error } = await client.call("import_userinterface", { yaml });
  expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining(problem) });
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
