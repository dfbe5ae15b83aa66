import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { type GatedTest, gateCode, gateText, judgeGate } from "#mcp-server/cli/run/gate.ts";
import { gateSchema, readGate } from "#mcp-server/cli/run/gateFile.ts";
import { type RunConnection, type RunOptions, runTestcases } from "#mcp-server/cli/run/run.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { connectionTo } from "./fixtures.ts";

let product: Product;
let client: TestClient;
let folder: string;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  folder = await mkdtemp(join(tmpdir(), "labwright-gate-"));
  const sees = (text: string) => stringify({ steps: [`check text "${text}" within 0 s`] });
  await writeFile(join(folder, "good.yaml"), sees("Welcome"));
  await writeFile(join(folder, "bad.yaml"), sees("Nothing"));
});
afterAll(async () => {
  await product.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function run(rules: object, more: Partial<RunOptions> = {}) {
  await writeFile(join(folder, "gate.yml"), stringify(rules));
  let printed = "";
  const out = (text: string) => {
    printed += text;
  };
  const options = { testcases: ["good.yaml", "bad.yaml"], inputs: [], repeat: 1, gate: "gate.yml", ...more };
  const surroundings = { out, err: out, cwd: folder, signal: new AbortController().signal };
  const code = await runTestcases(options, connectionTo(product, client), surroundings);
  return { code, printed };
}

test("every rule of a gate is shown, kept or broken, and the gate decides the exit code", async () => {
  const kept = await run({ pass_rate: 50, new_flaky: 0, run_ms: 600_000 }, { report: "out" });
  expect(kept.code).toBe(0);
  expect(kept.printed).toMatch(
    /gate: 3 of 3 rules kept\n {2}ok {7}pass rate at least 50 %; found 50 %: 1 of 2 tests\n/,
  );
  expect(JSON.parse(await readFile(join(folder, "out", "gate.json"), "utf8"))).toMatchObject({
    passed: true,
    rules: [
      { rule: "pass_rate", outcome: "passed", limit: 50, value: 50 },
      { rule: "new_flaky", outcome: "passed", value: 0 },
      { rule: "run_ms", outcome: "passed", limit: 600_000 },
    ],
  });
  const broken = await run({ test_ms: 0 }, { gateJson: "result.json" });
  expect(broken.code).toBe(1);
  expect(broken.printed).toMatch(
    /gate: 0 of 2 rules kept\n {2}broken {3}pass rate at least 100 %; .*\n +bad: failed\n/,
  );
  expect(broken.printed).toMatch(
    /broken {3}time of a test at most 0 ms; found \d+ ms \(\w+\)\n +good: \d+ ms/,
  );
  expect(JSON.parse(await readFile(join(folder, "result.json"), "utf8"))).toMatchObject({ passed: false });
});

test("a test that did not run counts as one that did not pass", async () => {
  const { code, printed } = await run(
    { pass_rate: 50 },
    { testcases: ["bad.yaml", "good.yaml"], maxFailures: 1 },
  );
  expect(code).toBe(1);
  expect(printed).toMatch(/found 0 %: 0 of 2 tests\n +bad: failed\n +good: not run/);
});

test("a rule that cannot be judged is neither kept nor broken, and coverage is that of the requirements", async () => {
  const unknown = await run({ pass_rate: 0, coverage: 0, console_errors: 0 });
  expect(unknown.printed).toContain("unknown  console errors at most 0; found no test ran in a browser");
  expect(unknown.code).toBe(2);
  expect(unknown.printed).toContain("unknown  coverage at least 0 %; found there are no requirements");
  for (const code of ["A-1", "A-2"])
    await client.call("create_requirement", { code, name: code, description: code });
  await client.call("link_testcase_to_requirement", { requirement: "A-1", testcase: "good" });
  const covered = await run({ pass_rate: 0, coverage: 50, requirements_passed: 60 });
  expect(covered.printed).toContain("ok       coverage at least 50 %; found 50 % of 2 requirements");
  expect(covered.printed).toContain("broken   requirements passed at least 60 %; found 50 %");
  expect(covered.code).toBe(1);
});

test("a gate with wrong rules is refused with their lines before anything runs", async () => {
  const refused = await run({ pass_rat: 50, new_flaky: -1 }, { report: "none" }).catch(
    (error: Error) => error,
  );
  expect(refused).toMatchObject({ code: "INVALID_INPUT" });
  const [, ...lines] = ("message" in refused ? refused.message : "").split("\n");
  expect(lines.sort()).toEqual([
    expect.stringMatching(/^gate\.yml:1:1: unknown key "pass_rat"; did you mean "pass_rate"\?$/),
    expect.stringMatching(/^gate\.yml:2:12: new_flaky: /),
  ]);
  expect(existsSync(join(folder, "none", "report.html"))).toBe(false);
  expect(() => readGate("absent.yml", folder)).toThrow(/cannot be read/);
  await expect(run({}, { gate: undefined, gateJson: "x.json" })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
});

test("a flaky test is new unless it was flaky before, and an error in the console counts once a test", async () => {
  const one = (name: string, more: Partial<GatedTest> = {}): GatedTest => ({
    ...{ name, status: "passed", flaky: false, executionId: name, ms: 5, hasConsole: true, ...more },
  });
  const answers: Record<string, (args: Record<string, unknown>) => object> = {
    get_execution_results: ({ name, before }) =>
      before === undefined
        ? { executions: [{ name, flaky: false }], next: "older" }
        : { executions: [{ name, flaky: name === "old" }] },
    get_execution_status: ({ execution_id }) => ({
      steps: [
        {},
        { notices: ["CONSOLE_ERROR: boom", "HTTP_ERROR: GET / 500"] },
        { notices: ["CONSOLE_ERROR: boom"] },
      ],
      ...(execution_id === "long" && { more: 3 }),
    }),
  };
  const connection: RunConnection = {
    call: async (name, args) => ({ ok: true, structured: { ...answers[name]?.(args) } }),
    artifact: async () => new Uint8Array(),
  };
  const judge = (rules: object, tests: GatedTest[]) =>
    judgeGate(gateSchema.parse(rules), { tests, startedAt: "2026-11-28T00:00:00.000Z", ms: 10 }, connection);
  const flaky = [one("old", { flaky: true }), one("new", { flaky: true }), one("new", { flaky: true })];
  expect((await judge({ new_flaky: 0 }, flaky)).rules[1]).toMatchObject({
    ...{ outcome: "broken", value: 1, found: "1, and 1 known", details: ["new"] },
  });
  const logged = await judge({ console_errors: 1 }, [one("a"), one("b")]);
  expect(logged.rules[1]).toMatchObject({ outcome: "broken", value: 2, details: ["a: boom", "b: boom"] });
  expect(gateText(logged)).toContain(
    "broken   console errors at most 1; found 2 in 2 of 2 tests\n             a: boom",
  );
  const unread = await judge({ console_errors: 1 }, [one("long")]);
  expect(unread.rules[1]).toMatchObject({ outcome: "unknown" });
  expect([gateCode(unread, 0), gateCode(logged, 0), gateCode(logged, 2), gateCode(logged, 130)]).toEqual([
    2, 1, 2, 130,
  ]);
  const all = Array.from({ length: 2_000 }, (_, at) => one(`t${at}`, at === 0 ? { status: "failed" } : {}));
  expect((await judge({}, all)).rules[0]).toMatchObject({
    outcome: "broken",
    value: 99.95,
    found: "99.9 %: 1999 of 2000 tests",
  });
});
