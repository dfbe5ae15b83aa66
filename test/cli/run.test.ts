import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { stringify } from "yaml";
import { exitCodeOf, type RunConnection, type RunOptions, runTestcases } from "#mcp-server/cli/run/run.ts";
import { progressText } from "#mcp-server/cli/run/statusLine.ts";
import { verdictText } from "#mcp-server/cli/run/verdictText.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { connectionTo } from "./fixtures.ts";

let product: Product;
let client: TestClient;
let connection: RunConnection;
let folder: string;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
  connection = connectionTo(product, client);
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

const sees = (name: string, text: string, block: object = {}) => ({
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
  await writeFile(join(folder, "good.yaml"), stringify(sees("good", "Welcome")));
  await writeFile(
    join(folder, "both.yml"),
    stringify({ testcases: [sees("bad", "Nothing"), sees("fine", "Movies")] }),
  );
  const more = { report: "out", build: "9", video: "on-failure" } as const;
  const code = await run(["good.yaml", "both.yml", "good"], { device: "box", ...more });
  expect(code).toBe(1);
  expect(printed.match(/^\[\d\/\d\] \w+ +\w+/gm)).toEqual([
    "[1/4] passed     good",
    "[2/4] failed     bad",
    "[3/4] passed     fine",
    "[4/4] passed     good",
  ]);
  expect(printed).toMatch(
    /failed +bad .*\n +the app did not do what the test asks for\n +step the screen shows "Nothing"\n +expected the screen shows "Nothing"\n +found {4}Home \| Welcome home/,
  );
  expect(printed).toContain("4 runs: 3 passed, 1 failed");
  expect(printed).toContain("no video: lab/box cannot be recorded");
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
  await writeFile(join(folder, "input.yaml"), stringify(sees("input", "Nothing")));
  expect(await run(["input.yaml"], { inputs: ["text=Live TV"], repeat: 3 })).toBe(0);
  expect(printed).toContain("3 runs: 3 passed");
});

test("exit code 2 when a test could not be judged, also when another failed", async () => {
  await writeFile(
    join(folder, "broken.yaml"),
    stringify(sees("broken", "x", { params: { text: "{{look2}}" } })),
  );
  await expect(run(["broken.yaml"])).rejects.toMatchObject({ code: "UNKNOWN_VARIABLE" });
  await writeFile(join(folder, "wrong.yaml"), stringify(sees("wrong", "x", { command: "text_visibel" })));
  await writeFile(join(folder, "bad.yaml"), stringify(sees("fails", "Nothing")));
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
  const testcase = sees("slow", "x", slow);
  const check = { id: "after", type: "verification", command: "text_visible", params: { text: "{{text}}" } };
  testcase.blocks.splice(2, 0, check);
  testcase.edges.splice(1, 1, { from: "look", to: "after" }, { from: "after", to: "done" });
  await writeFile(join(folder, "slow.yaml"), stringify(testcase));
  const interrupt = new AbortController();
  const noticing: RunConnection = {
    ...connection,
    call(name, args, signal) {
      if (name === "get_execution_status") interrupt.abort();
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
  expect(printed).toMatch(/^\[1\/2\] cancelled {2}slow/);
  expect(printed).toContain("\nskipped:   good\n1 run: 0 passed, 1 cancelled, 1 skipped\n");
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
  await writeFile(join(folder, "calm.yaml"), stringify(sees("calm", "All movies")));
  await client.call("execute_device_action", {
    actions: [{ command: "press_key", params: { key: "BACK" } }],
  });
  const code = await run(["moody.yaml", "calm.yaml"], { retries: 2, retryOn: "any", report: "moody" });
  expect(printed).toMatch(
    /^\[1\/2\] flaky {6}moody {2}[\d.]+ s {2}box {2}\w+\n +it passed only when it was tried again\n +attempt 1 failed: VERIFICATION_FAILED: .*\n +attempt 2 passed\n/,
  );
  expect(printed).toContain("2 runs: 1 passed, 1 flaky");
  expect(code).toBe(0);
  expect(await readFile(join(folder, "moody", "junit.xml"), "utf8")).toContain("<flakyFailure ");
  const { structured } = await client.call("get_execution_results", { name: "moody" });
  expect(structured).toMatchObject({
    counts: { passed: 1, flaky: 1 },
    executions: [{ status: "passed", flaky: true }],
  });
  const [, id] = /^\[1\/2\] flaky .* {2}(\w+)\n/.exec(printed) ?? [];
  const status = await client.call("get_execution_status", { execution_id: id });
  expect(status.structured).toMatchObject({
    flaky: true,
    attempts: [{ status: "failed" }, { status: "passed" }],
  });
});

test("--list names the tests and their files, and runs and writes nothing", async () => {
  await writeFile(
    join(folder, "listed.yaml"),
    stringify({ testcases: [sees("one", "A"), sees("two", "B")] }),
  );
  expect(await run(["listed.yaml"], { list: true, report: "unwritten" })).toBe(0);
  expect(printed).toBe("one  listed.yaml\ntwo  listed.yaml\n");
  expect(existsSync(join(folder, "unwritten"))).toBe(false);
});

test("--last-failed runs what did not pass when it last ran here, until it passes", async () => {
  const own = await mkdtemp(join(folder, "failed-"));
  const home = [{ command: "press_key", params: { key: "HOME" } }];
  await client.call("execute_device_action", { actions: home });
  const save = (name: string, text: string, more = {}) =>
    writeFile(join(own, `${name}.yaml`), stringify(sees(name, text, more)));
  await save("lf good", "Welcome");
  await save("lf bad", "Nothing");
  await save("lf wrong", "x", { command: "text_visibel" });
  const again = () => run([own], { lastFailed: true });
  const ran = () => [...printed.matchAll(/^(?:\[.*\] )?\w+ +(lf \w+)/gm)].map(([, name]) => name);
  await expect(again()).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(await run([own], { maxFailures: 2 })).toBe(2);
  await save("lf bad", "Welcome");
  printed = "";
  // A test that is not run, or passes, changes nothing of the others.
  expect(await run([join(own, "lf good.yaml")])).toBe(0);
  printed = "";
  expect(await again()).toBe(2);
  expect(ran()).toEqual(["lf bad", "lf wrong"]);
  await save("lf wrong", "Welcome");
  printed = "";
  expect(await again()).toBe(0);
  expect(ran()).toEqual(["lf wrong"]);
  await expect(again()).rejects.toMatchObject({ message: expect.stringContaining("failed the last time") });
});

test("--last-failed knows a run whose report could not be written", async () => {
  await writeFile(join(folder, "unreported.yaml"), stringify(sees("unreported", "Nothing")));
  const full: RunConnection = { ...connection, artifact: () => Promise.reject(new Error("disk full")) };
  const options = { testcases: ["unreported.yaml"], inputs: [], repeat: 1, report: "lost" };
  const silent = { out: () => {}, err: () => {}, cwd: folder, signal: new AbortController().signal };
  await expect(runTestcases(options, full, silent)).rejects.toThrow("disk full");
  expect(await run(["unreported.yaml"], { lastFailed: true })).toBe(1);
});

test("a terminal shows the step that runs in one line, which goes away; other places show none", async () => {
  const steps = ["press HOME", "wait 1500 ms", 'check text "Movies"'];
  await writeFile(join(folder, "watched.yaml"), stringify({ name: "watched", steps }));
  const texts: string[] = [];
  const out = (text: string) => void texts.push(text);
  const terminal = { out, err: out, cwd: folder, signal: new AbortController().signal };
  const options = { testcases: ["watched.yaml"], inputs: [], repeat: 1 };
  const env = { NO_COLOR: "1" };
  await runTestcases(options, connection, { ...terminal, columns: 18, env });
  expect(texts).toContain("watched: wait 1500 ms".slice(0, 17));
  const shown = texts.indexOf("watched: wait 150");
  expect(texts[shown + 1]).toBe("\r\u001b[K");
  expect(texts.at(-1)).toBe("1 run: 1 passed\n");
  for (const more of [{}, { columns: 80, env: { TERM: "dumb" } }]) {
    texts.length = 0;
    await runTestcases(options, connection, { ...terminal, ...more });
    expect(texts.join("")).not.toMatch(/watched: |\r/);
  }
});

test("a verdict has colour in a terminal, and where FORCE_COLOR and NO_COLOR say so", () => {
  const text = (terminal: { columns?: number; env?: Record<string, string> }) =>
    progressText({ done: 3, total: 8 }, "failed     bad\n", { status: "failed", flaky: false }, terminal);
  const plain = "[3/8] failed     bad\n";
  const colored = "[3/8] \u001b[31mfailed\u001b[39m     bad\n";
  expect(text({})).toBe(plain);
  expect(text({ columns: 80 })).toBe(colored);
  expect(text({ columns: 80, env: { NO_COLOR: "1" } })).toBe(plain);
  expect(text({ columns: 80, env: { FORCE_COLOR: "0" } })).toBe(plain);
  expect(text({ env: { FORCE_COLOR: "1" } })).toBe(colored);
});

test("the nearest texts of a failed step are below what was found", () => {
  const failed_step = {
    label: "look",
    expected: "Sign in",
    found: "no such text",
    nearest: ["Sign on", "Sing"],
  };
  const run = { execution_id: "e1", status: "failed", failed_step };
  expect(verdictText({ name: "bad", device: undefined }, run)).toContain(
    "found    no such text\n           nearest  Sign on\n                    Sing\n",
  );
});

test("in GitHub Actions a failed test is annotated at its step", async () => {
  await writeFile(
    join(folder, "noted.yaml"),
    'name: noted\nsteps:\n  - press HOME\n  - check text "Nothing"\n',
  );
  const out = (text: string) => {
    printed += text;
  };
  const terminal = { out, err: out, cwd: folder, signal: new AbortController().signal };
  const options = { testcases: ["noted.yaml"], inputs: [], repeat: 1 };
  await runTestcases(options, connection, { ...terminal, env: { GITHUB_ACTIONS: "true" } });
  expect(printed).toMatch(/^::error file=noted\.yaml,line=4::noted: .*%0Aexpected .*Nothing/m);
});
