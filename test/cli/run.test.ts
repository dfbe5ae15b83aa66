import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  exitCodeOf,
  type RunConnection,
  type RunOptions,
  runTestcases,
} from "../../mcp-server/src/cli/run.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let client: TestClient;
let folder: string;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  folder = await mkdtemp(join(tmpdir(), "labwright-run-"));
});
afterAll(async () => {
  await product.dispose();
  await rm(folder, { recursive: true, force: true });
});

let printed: string;
beforeEach(() => {
  printed = "";
});

const connection: RunConnection = {
  async call(name, args) {
    const { isError, error, structured } = await client.call(name, args);
    return isError && error ? { ok: false, error } : { ok: true, structured };
  },
  artifact: async (uri) => (await product.services.artifacts.get(uri.replace("artifact://", ""))).bytes,
};

const looks = (name: string, text: string, block: object = {}) => ({
  name,
  inputs: [{ name: "text", default: text }],
  blocks: [
    { id: "start", type: "start" },
    {
      id: "look",
      type: "verification",
      command: "text_visible",
      params: { text: "{{text}}" },
      timeout_ms: 0,
      ...block,
    },
    { id: "done", type: "success" },
  ],
  edges: [
    { from: "start", to: "look" },
    { from: "look", to: "done" },
  ],
});

const run = (testcases: string[], more: Partial<RunOptions> = {}, signal = new AbortController().signal) =>
  runTestcases({ testcases, inputs: [], repeat: 1, ...more }, connection, {
    out: (text) => {
      printed += text;
    },
    err: (text) => {
      printed += text;
    },
    cwd: folder,
    signal,
  });

test("files are saved and run, a line for each verdict, and the three reports are written", async () => {
  await writeFile(join(folder, "good.yaml"), stringify(looks("good", "Welcome")));
  await writeFile(
    join(folder, "both.yml"),
    stringify({ testcases: [looks("bad", "Nothing"), looks("fine", "Movies")] }),
  );
  const code = await run(["good.yaml", "both.yml", "good"], { device: "box", report: "out", build: "9" });
  expect(code).toBe(1);
  const lines = printed.split("\n");
  expect(lines.map((line) => line.split("  ")[0])).toEqual(expect.arrayContaining(["passed", "failed"]));
  expect(printed).toMatch(
    /failed +bad .*\n +the app did not do what the test asks for\n +step the screen shows "Nothing"\n +expected the screen shows "Nothing"\n +found {4}Home \| Welcome home/,
  );
  expect(printed).toContain("4 runs: 3 passed, 1 failed");
  const read = (name: string) => readFile(join(folder, "out", name), "utf8");
  expect(await read("report.html")).toContain("<!doctype html>");
  expect(await read("junit.xml")).toMatch(/<testsuites name="labwright" tests="4" failures="1" errors="0"/);
  expect(JSON.parse(await read("ctrf.json")).results.summary).toMatchObject({
    tests: 4,
    passed: 3,
    failed: 1,
  });
});

test("files in the short form run: one test by its file's name, several, and an app with its nodes", async () => {
  const movies = { nodes: { Home: null, Movies: 'check text "All movies"' }, entry: false };
  const app = { name: "tv", models: ["simulated"], ...movies };
  const tests = [{ name: "tv movies", steps: ['click "Movies"', "check Movies is shown", "press BACK"] }];
  await writeFile(join(folder, "tv.yaml"), stringify({ ...app, tests }));
  await writeFile(join(folder, "look at home.yaml"), 'steps: [check text "Welcome"]\n');
  const more = ["one", "two"].map((name) => ({ name: `tv ${name}`, steps: ['check text "Movies"'] }));
  await writeFile(join(folder, "more.yaml"), stringify({ app: "tv", tests: more }));
  await client.call("execute_device_action", {
    actions: [{ command: "press_key", params: { key: "HOME" } }],
  });
  expect(await run(["tv.yaml", "look at home.yaml", "more.yaml"], { keep: true })).toBe(0);
  for (const name of ["look at home", "tv one", "tv two", "tv movies"])
    expect(printed).toContain(`passed     ${name}`);
  await writeFile(join(folder, "typo.yaml"), 'name: typo\nsteps:\n  - press OK\n  - check txt "A"\n');
  await expect(run(["typo.yaml"])).rejects.toMatchObject({
    message: expect.stringMatching(
      /typo\.yaml cannot be imported: line 4, column 5 steps\[1\]: .*; nearest: check text "T"/,
    ),
  });
});

test("exit code 0 means that all passed; inputs reach the tests that declare them, repeat repeats", async () => {
  await writeFile(join(folder, "input.yaml"), stringify(looks("input", "Nothing")));
  expect(await run(["input.yaml"], { inputs: ["text=Live TV"], repeat: 3 })).toBe(0);
  expect(printed).toContain("3 runs: 3 passed");
});

test("exit code 2 when a test could not be judged, also beside a failure", async () => {
  await writeFile(
    join(folder, "broken.yaml"),
    stringify(looks("broken", "x", { params: { text: "{{look2}}" } })),
  );
  await expect(run(["broken.yaml"])).rejects.toMatchObject({ code: "UNKNOWN_VARIABLE" });
  await writeFile(join(folder, "wrong.yaml"), stringify(looks("wrong", "x", { command: "text_visibel" })));
  await writeFile(join(folder, "bad.yaml"), stringify(looks("fails", "Nothing")));
  expect(await run(["bad.yaml", "wrong.yaml"])).toBe(2);
  expect(printed).toMatch(
    /error +wrong {2}box\n +the test could not be run\n +TESTCASE_INVALID: .*text_visible/,
  );
  expect(
    ["passed", "failed", "error", "timeout", "cancelled"].map((status) => exitCodeOf(["passed", status])),
  ).toEqual([0, 1, 2, 2, 2]);
});

test("what cannot be run is refused before anything runs", async () => {
  await writeFile(join(folder, "torn.yaml"), "name: [");
  await expect(run(["good.yaml", "no such test"])).rejects.toMatchObject({ code: "TESTCASE_NOT_FOUND" });
  await expect(run(["torn.yaml"])).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(run(["missing.yaml"])).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(run(["good.yaml"], { inputs: ["txt=1"] })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(run(["good.yaml"], { inputs: ["text"] })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(printed).toBe("");
});

test("an interrupted run is cancelled on its device, reported, and ends with 130", async () => {
  const slow = {
    type: "sleep",
    duration_ms: 600_000,
    command: undefined,
    params: undefined,
    timeout_ms: undefined,
  };
  const testcase = looks("slow", "x", slow);
  const check = { id: "after", type: "verification", command: "text_visible", params: { text: "{{text}}" } };
  testcase.blocks.splice(2, 0, check);
  testcase.edges.splice(1, 1, { from: "look", to: "after" }, { from: "after", to: "done" });
  await writeFile(join(folder, "slow.yaml"), stringify(testcase));
  const interrupt = new AbortController();
  const noticing: RunConnection = {
    ...connection,
    call(name, args, signal) {
      if (name === "execute_testcase" && "execution_id" in args) interrupt.abort();
      return connection.call(name, args, signal);
    },
  };
  const code = await runTestcases(
    { testcases: ["slow.yaml", "good"], inputs: [], repeat: 1, report: "interrupted" },
    noticing,
    {
      out: (text) => {
        printed += text;
      },
      err: () => {},
      cwd: folder,
      signal: interrupt.signal,
    },
  );
  expect(code).toBe(130);
  expect(printed).toMatch(/^cancelled {2}slow/);
  expect(printed).toContain("\nnot run:   good\n1 run: 0 passed, 1 cancelled, 1 not run\n");
  expect(product.services.executions.running()).toBe(0);
  expect(await readFile(join(folder, "interrupted", "junit.xml"), "utf8")).toContain('type="CANCELLED"');
});

test("a test that passes when it is tried again is flaky: in its line, the count, the reports and the list; exit code 0", async () => {
  // On its first attempt it finds the home screen, and leaves it for the one that it looks for.
  const flaky = {
    name: "moody",
    blocks: [
      { id: "start", type: "start" },
      {
        id: "look",
        type: "verification",
        command: "text_visible",
        params: { text: "All movies" },
        timeout_ms: 0,
      },
      { id: "go", type: "action", command: "click_element", params: { selector: "Movies" } },
      { id: "done", type: "success" },
      { id: "bad", type: "failure" },
    ],
    edges: [
      { from: "start", to: "look" },
      { from: "look", to: "done" },
      { from: "look", to: "go", on: "failure" },
      { from: "go", to: "bad" },
    ],
  };
  await writeFile(join(folder, "moody.yaml"), stringify(flaky));
  await writeFile(join(folder, "calm.yaml"), stringify(looks("calm", "All movies")));
  await client.call("execute_device_action", {
    actions: [{ command: "press_key", params: { key: "BACK" } }],
  });
  const code = await run(["moody.yaml", "calm.yaml"], { retries: 2, retryOn: "any", report: "moody" });
  expect(printed).toMatch(
    /^flaky {6}moody {2}[\d.]+ s {2}box {2}\w+\n +it passed only when it was tried again\n +attempt 1 failed: VERIFICATION_FAILED: .*\n +attempt 2 passed\n/,
  );
  expect(printed).toContain("2 runs: 1 passed, 1 flaky");
  expect(code).toBe(0);
  expect(await readFile(join(folder, "moody", "junit.xml"), "utf8")).toContain("<flakyFailure ");
  const { structured } = await client.call("get_execution_results", { name: "moody" });
  expect(structured).toMatchObject({
    counts: { passed: 1, flaky: 1 },
    executions: [{ status: "passed", flaky: true }],
  });
  const [, id] = /^flaky .* {2}(\w+)\n/.exec(printed) ?? [];
  const status = await client.call("get_execution_status", { execution_id: id });
  expect(status.structured).toMatchObject({
    flaky: true,
    attempts: [{ status: "failed" }, { status: "passed" }],
  });
});
