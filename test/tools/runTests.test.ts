import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { readJunit } from "#mcp-server/services/runs/workspace/junit.ts";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { installPackages } from "../fixtures/installPackages.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { hasPytest, hasSandbox } from "../fixtures/sandbox.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  await write("readme.txt", "");
  installPackages(product.config.folders.workspace, ["vitest", "playwright"]);
}, 60_000);
afterAll(() => product.dispose());

const write = (path: string, content: string) =>
  client.call("workspace_files", { operation: "write", path, content });
const run = (runner: string, args: string[], more: Record<string, unknown> = {}) =>
  client.call("run_tests", { runner, args, ...more });

async function ctrfOf({ raw }: Reply) {
  const link = z
    .object({ type: z.literal("resource_link"), uri: z.string(), name: z.literal("ctrf.json") })
    .parse(raw.content.find(({ type }) => type === "resource_link"));
  const { bytes } = await product.artifacts.get(link.uri.replace("artifact://", ""));
  return JSON.parse(Buffer.from(bytes).toString());
}
const schema = JSON.parse(
  readFileSync(new URL("../services/runs/reports/ctrf.schema.json", import.meta.url), "utf8"),
);
const isCtrf = new Ajv({ strict: false, validateFormats: false }).compile(schema);

/** One suite a runner: its file, and how its language says the same. */
const suites = {
  vitest: {
    file: "sum.test.js",
    head: 'import { expect, test } from "vitest";\n',
    passing: 'test("adds", () => expect(1 + 1).toBe(2));\n',
    failing: 'test("fails <here>", () => expect(1 + 1).toBe(3));\n',
    skipped: 'test.skip("later", () => {});\n',
    hanging: 'test("hangs", () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });\n',
    crashing: 'test("crashes", () => { process.kill(process.ppid, "SIGKILL"); });\n',
    broken: 'import "./missing.js";\n',
  },
  playwright: {
    file: "sum.spec.js",
    head: 'import { expect, test } from "playwright/test";\n',
    passing: 'test("adds", () => expect(1 + 1).toBe(2));\n',
    failing: 'test("fails <here>", () => expect(1 + 1).toBe(3));\n',
    skipped: 'test.skip("later", () => {});\n',
    hanging:
      'test("hangs", async () => { test.setTimeout(0); await new Promise(() => setInterval(() => {}, 1000)); });\n',
    crashing: 'test("crashes", () => { process.kill(process.ppid, "SIGKILL"); });\n',
    broken: 'import "./missing.js";\n',
  },
  pytest: {
    file: "test_sum.py",
    head: "import os, pytest, time\n",
    passing: "def test_adds():\n    assert 1 + 1 == 2\n",
    failing: "def test_fails():\n    assert 1 + 1 == 3\n",
    skipped: "@pytest.mark.skip\ndef test_later():\n    pass\n",
    hanging: "def test_hangs():\n    while True: time.sleep(1)\n",
    crashing: "def test_crashes():\n    os.kill(os.getpid(), 11)\n",
    broken: "import missing_module\n",
  },
} as const;

const runnable = Object.entries(suites).filter(([runner]) => runner !== "pytest" || hasPytest);

describe.runIf(hasSandbox).each(runnable)("%s", (runner, suite) => {
  const ofFile = (text: string) => write(`${runner}/${suite.file}`, suite.head + text);
  const args = [`${runner}/${suite.file}`];

  test("a suite that passes", { timeout: 60_000 }, async () => {
    await ofFile(suite.passing + suite.skipped);
    const reply = await run(runner, args);
    expect(reply.structured, reply.text).toMatchObject({
      status: "passed",
      summary: { tests: 2, passed: 1, failed: 0, skipped: 1 },
      failed_tests: [],
      exit_code: 0,
    });
    const ctrf = await ctrfOf(reply);
    expect(isCtrf(ctrf), JSON.stringify(isCtrf.errors)).toBe(true);
    expect(ctrf.results).toMatchObject({
      tool: { name: runner },
      summary: { tests: 2, passed: 1, skipped: 1, failed: 0, pending: 0, other: 0 },
    });
  });

  test("a suite that fails names its failed tests and says why", { timeout: 60_000 }, async () => {
    await ofFile(suite.passing + suite.failing);
    const reply = await run(runner, args);
    const failed = { name: expect.stringContaining("fails"), message: expect.stringMatching(/\S/) };
    expect(reply.structured, reply.text).toMatchObject({
      status: "failed",
      summary: { tests: 2, passed: 1, failed: 1, skipped: 0 },
      failed_tests: [failed],
      exit_code: 1,
    });
    expect((await ctrfOf(reply)).results.tests).toContainEqual(
      expect.objectContaining({ status: "failed", trace: expect.stringContaining("3"), ...failed }),
    );
  });

  test("a suite that hangs is stopped at its time", { timeout: 60_000 }, async () => {
    await ofFile(suite.hanging);
    const { error } = await run(runner, args, { timeout_ms: 5_000 });
    expect(error).toMatchObject({ code: "EXECUTION_TIMEOUT", message: expect.stringContaining("5000 ms") });
  });

  test("a suite that crashes its runner is an error, with what it said", { timeout: 60_000 }, async () => {
    await ofFile(suite.passing + suite.crashing);
    const { error } = await run(runner, args);
    expect(error).toMatchObject({ code: "TOOL_FAILED", details: { stdout: expect.any(String) } });
  });

  test("a suite that cannot be loaded never passes", { timeout: 60_000 }, async () => {
    await ofFile(suite.broken + suite.passing);
    const { error, structured, text } = await run(runner, args);
    if (error) expect(error).toMatchObject({ code: "NOTHING_VERIFIED" });
    else expect(structured.status).toBe("failed");
    expect(text).toContain("missing");
  });

  test("no test at all is no success", { timeout: 60_000 }, async () => {
    await ofFile(suite.skipped);
    expect((await run(runner, args)).error).toMatchObject({ code: "NOTHING_VERIFIED" });
  });
});

test.runIf(hasSandbox)("a runner that the workspace does not have is named, with what to do", async () => {
  const bare = await openProduct("devices: [{ name: box, model: simulated }]");
  const caller = await bare.connect();
  for (const runner of ["vitest", "playwright"])
    expect((await caller.call("run_tests", { runner })).error).toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringContaining("not installed"),
      hint: expect.stringContaining("npm install"),
    });
  await bare.dispose();
});

test("arguments are checked before anything runs", async () => {
  for (const args of [{}, { runner: "jest" }, { runner: "pytest", args: "x" }, { runner: "pytest", arg: [] }])
    expect((await client.call("run_tests", args)).error, JSON.stringify(args)).toMatchObject({
      code: "INVALID_INPUT",
    });
});

describe("a JUnit file", () => {
  test("is read with entities, CDATA, errors and tests without a body", () => {
    const xml = `<?xml version="1.0"?><testsuites><testsuite name="a.js">
<testcase name="x &lt;b&gt; &#39;y&#39;" time="0.0125"/>
<testcase name="z" classname="C"><system-out><![CDATA[<testcase name="forged"/>]]></system-out>
<failure message="no"><![CDATA[at <line>]]></failure></testcase>
<testcase name="e"><error type="Boom">first &amp; last
second</error></testcase>
<testcase name="s"><skipped message="later"/></testcase></testsuite></testsuites>`;
    expect(readJunit(xml)).toEqual([
      { name: "x <b> 'y'", suite: "a.js", status: "passed", duration_ms: 13 },
      { name: "z", suite: "C", status: "failed", duration_ms: 0, message: "no", trace: "at <line>" },
      {
        name: "e",
        suite: "a.js",
        status: "failed",
        duration_ms: 0,
        message: "Boom",
        trace: "first & last\nsecond",
      },
      { name: "s", suite: "a.js", status: "skipped", duration_ms: 0 },
    ]);
  });

  test.each([
    "",
    "no xml",
    '<testsuites><testsuite name="a"><testcase name="x">',
    "<testsuites><testsuite></testsuite>",
  ])("that is none or was cut off gives nothing: %j", (xml) => expect(readJunit(xml)).toBeUndefined());
});
