import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { hasSandbox } from "../../fixtures/sandbox.ts";
import { boxYaml } from "../../services/apps/navigation/lab.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { type OfflineBench, openOffline } from "./bench.ts";

const yaml = `
devices: [{ name: box, model: simulated }, { name: living_room, model: simulated }]
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }`;

let bench: OfflineBench;
beforeAll(async () => {
  bench = await openOffline(yaml);
  const { client, product } = bench;
  await client.call("import_userinterface", { yaml: boxYaml("shop") });
  const elsewhere = { ...JSON.parse(boxYaml("bank")), models: ["android_mobile"] };
  await client.call("import_userinterface", { yaml: JSON.stringify(elsewhere) });
  await save("login_basic", "Welcome home", { inputs: [{ name: "who" }] });
  await save("login_guest", "Welcome home");
  await save("zapping", "Nothing like it");
  await save("banking", "Welcome home", { userinterface_name: "bank" });
  await client.call("save_testcase", {
    testcase: {
      name: "endless",
      ...chain([{ id: "wait", type: "sleep", duration_ms: 600_000 }, sees("look", "x")]),
    },
  });
  await client.call("save_testcase", {
    testcase: {
      name: "slow",
      ...chain([{ id: "wait", type: "sleep", duration_ms: 800 }, sees("look", "Welcome home")]),
    },
  });
  mkdirSync(product.config.folders.scripts, { recursive: true });
  script("warmup.py", 'import sys, labwright\nlabwright.result("passed", args=sys.argv[1:])\n');
  script("broken.sh", "echo the reason\nexit 3\n");
});
afterAll(() => bench.end());

const script = (name: string, text: string) =>
  writeFileSync(join(bench.product.config.folders.scripts, name), text);
const save = (name: string, text: string, more: Record<string, unknown> = {}) =>
  bench.client.call("save_testcase", {
    replace: true,
    testcase: { name, userinterface_name: "shop", ...chain([sees("look", text)]), ...more },
  });
const namesOf = (calls: { name: string }[]) => calls.map(({ name }) => name);
/** What a test leaves running ends with it. */
const stopAll = async () => {
  const { structured } = await bench.client.call("get_execution_results", { status: "running" });
  const { executions } = z
    .object({ executions: z.array(z.object({ execution_id: z.string() })) })
    .parse(structured);
  for (const run of executions)
    await bench.client.call("cancel_execution", { execution_id: run.execution_id });
};
afterEach(stopAll);
const runsOf = async () => {
  const { structured } = await bench.client.call("get_execution_results", {
    kind: "testcase",
    max_tokens: 50_000,
  });
  return z.object({ counts: z.record(z.string(), z.int()) }).parse(structured).counts;
};

test.each([
  "run zapping on box",
  "please start Zapping on the box",
  "can you run the test 'zapping' on lab/box?",
  "start the test case “zapping” on box, please",
])("runs what is named where it is named: %s", async (text) => {
  const { calls, text: answer, needs } = await bench.ask(text);
  expect(needs).toBeUndefined();
  expect(namesOf(calls).filter((name) => !name.startsWith("list_"))).toEqual([
    "get_compatible_hosts",
    "execute_testcase",
    "get_execution_report",
  ]);
  expect(calls.find(({ name }) => name === "execute_testcase")?.input).toMatchObject({
    ...{ testcase: "zapping", device_id: "lab/box" },
  });
  expect(answer).toMatch(/^\*\*zapping on lab\/box\*\*: FAILED\n/);
  expect(answer).toMatch(/failed_step: .*expected: .*Nothing like it/);
  expect(answer).toMatch(/execution_id: [a-z\d]{12}[\s\S]*\nreport: artifact:\/\//);
});

test("a script and a test case with one name are a question, and each order to choose from runs", async () => {
  script("twice.sh", "true\n");
  await save("twice", "Welcome home");
  const { needs } = await bench.ask("run twice on box");
  const orders = ['Run the script "twice.sh" on "lab/box"', 'Run the test case "twice" on "lab/box"'];
  expect(needs).toEqual({ question: "What is to be run?", options: orders });
  const { text } = await bench.ask(orders[1] ?? "");
  expect(text).toContain("**twice on lab/box**: PASSED");
  expect((await bench.ask("run the test twice on box")).text).toContain("**twice on lab/box**: PASSED");
});

test("quoted texts of an order to run a script are its arguments, and an app that is named is its app", async () => {
  const { needs, calls } = await bench.ask('run warmup "Cart" "-" in the shop');
  const order = 'Run the script "warmup.py" "Cart" "-" in the app "shop" on';
  expect(needs?.options).toEqual([`${order} "lab/box"`, `${order} "lab/living_room"`]);
  expect(namesOf(calls)).not.toContain("execute_script");
  const ran = await bench.ask(needs?.options[0] ?? "");
  expect(ran.calls.filter(({ name }) => name === "execute_script").map(({ input }) => input)).toEqual([
    {
      ...{ script: "warmup.py", device_id: "lab/box", wait_ms: 45_000 },
      ...{ args: ["Cart", "-"], userinterface_name: "shop" },
    },
  ]);
});

test("a device that is not named is asked for, among those that can run the app", async () => {
  const { needs, calls } = await bench.ask("run zapping");
  const orders = ["box", "living_room"].map((name) => `Run the test case "zapping" on "lab/${name}"`);
  expect(needs).toEqual({ question: "What is to be run?", options: orders });
  expect(namesOf(calls)).not.toContain("execute_testcase");
  const { text } = await bench.ask(orders[1] ?? "");
  expect(text).toContain("**zapping on lab/living_room**");
});

test.each([
  ["run the test on box", /^What is to be run\?/],
  ["run checkout on box", /^Not understood: “checkout”\. What/],
  ["run the login test on box", /^Not understood: “login”\. What/],
  ["run login_basics on box", /^Not understood: “login_basics”\. What/],
  ["run zapp on box", /^Not understood: “zapp”\. What/],
  ["run the script zapping on box", /^Not understood: “zapping”\. What/],
  ["run zapping on pixel9", /^Not understood: “pixel9”\. What/],
  ['run zapping on "pixel9"', /^Not understood: “pixel9”\. What/],
  ["run ../../etc/passwd on box", /^Not understood: “\.\.\/\.\.\/etc\/passwd”\. What/],
  ["run zapping and banking on box", /^What is to be run\?/],
  ["run zapping on box and living_room", /^What is to be run\?/],
  ["run zapping on box tomorrow at 9", /^Not understood: “tomorrow”, “9”\. What/],
  ["run zapping on box when it is free", /^Not understood: “when”, “is”, “free”\. What/],
  ["run zapping three times on box", /^Not understood: “three”, “times”\. What/],
  ["run a test like zapping on box", /^Not understood: “like”\. What/],
  ["run zapping many times on box", /^Not understood: “many”, “times”\. What/],
  ["run zapping in the shop on box", /^Not understood: “shop”\. What/],
  ["run login_basic on box with who=anna", /^Not understood: “who=anna”\. What/],
  ['run zapping on box with "two words"', /^Not understood: “two words”\. What/],
  ["run warmup on box with words", /^Not understood: “words”\. What/],
  ['run zapping "-" on box', /^Not understood: “-”\. What/],
  ['run warmup on "pixel9"', /^What is to be run\?/],
  ['run the script warmup "one" in the shop on box and living_room', /^What is to be run\?/],
  ["run the results of zapping on box", /^Not understood: “results”\. What/],
  ["run the last failed test on box", /^Not understood: “last”, “failed”\. What/],
  ["zapping on box, run it", /^What is to be run\?/],
  ["run everything except zapping on box", /^Nothing was run/],
])("runs nothing that was not asked for: %s", async (text, said) => {
  const before = await runsOf();
  const { outcome, calls, text: answer } = await bench.ask(text);
  expect(answer).toMatch(said);
  expect(outcome).toBe("needs_input");
  expect(namesOf(calls).filter((name) => name.startsWith("execute_"))).toEqual([]);
  expect(await runsOf()).toEqual(before);
});

test.each([
  "did zapping run on box?",
  "why does zapping run so long on box",
  "how do I run zapping on box",
  "when does zapping run on box",
  "what does the test zapping do",
  "zapping",
  "status of zapping",
  "show how to run zapping on box",
  "zapping on box",
  "führ zapping auf der box aus",
  "schedule zapping on box for every night",
  "can you delete zapping",
])("a question runs nothing: %s", async (text) => {
  const { calls } = await bench.ask(text);
  expect(namesOf(calls)).not.toContain("execute_testcase");
});

test.each([
  "can you run zapping on box?",
  "please run zapping on box now",
])("a polite order runs: %s", async (text) =>
  expect(namesOf((await bench.ask(text)).calls)).toContain("execute_testcase"));

test.each([
  ["do not run zapping on box", /Nothing was run/],
  ["stop running zapping on box", /Nothing was run/],
  ["don't run zapping on box", /Nothing was run/],
])("runs nothing when it is told not to: %s", async (text, said) => {
  const { calls, text: answer } = await bench.ask(text);
  expect(answer).toMatch(said);
  expect(namesOf(calls)).not.toContain("execute_testcase");
});

test("the only device is wanted where none is named, and not where another one is", async () => {
  const alone = await openOffline("devices: [{ name: box, model: simulated }]");
  try {
    const testcase = { name: "zapping", ...chain([sees("look", "Welcome home")]) };
    await alone.client.call("save_testcase", { testcase });
    for (const text of ["run zapping on pixel9", "run zapping on the phone"]) {
      const { needs, calls } = await alone.ask(text);
      expect(needs?.question).toMatch(/^Not understood: “(?:pixel9|phone)”\. What is to be run\?$/);
      expect(needs?.options).toEqual(['Run the test case "zapping" on "lab/box"']);
      expect(namesOf(calls)).not.toContain("execute_testcase");
    }
    const { text } = await alone.ask("please run zapping on the device");
    expect(text).toContain("**zapping on lab/box**: PASSED");
  } finally {
    await alone.end();
  }
});

test("the name of a device is not taken for the name of an app", async () => {
  await bench.client.call("import_userinterface", { yaml: boxYaml("living room") });
  const { calls } = await bench.ask("run zapping on living_room");
  expect(calls.find(({ name }) => name === "execute_testcase")?.input.device_id).toBe("lab/living_room");
});

test("a name that a device and a test case have is the device's, so that nothing is guessed", async () => {
  await save("box", "Welcome home");
  for (const text of ["run box", 'run "box"']) {
    const { needs, calls } = await bench.ask(text);
    expect(needs?.question).toMatch(/^What is to be run\?/);
    expect(namesOf(calls)).not.toContain("execute_testcase");
  }
});

test("a device that cannot run the app is refused with the reason", async () => {
  const { text, calls } = await bench.ask("run banking on box");
  expect(text).toContain("lab/box cannot run bank: model simulated");
  expect(namesOf(calls)).not.toContain("execute_testcase");
  const none = await bench.ask("run banking");
  expect(none).toMatchObject({ text: "There is nothing that can be run.", outcome: "needs_input" });
});

test("a run that goes on is waited for by its id, and started once", async () => {
  const { calls, text } = await bench.ask("run slow on box", {
    change: ({ name, input }) => ({ name, input: "wait_ms" in input ? { ...input, wait_ms: 200 } : input }),
  });
  const started = calls.filter(({ name }) => name === "execute_testcase");
  expect(started).toMatchObject([{ input: { testcase: "slow" } }]);
  const others = calls.filter(({ name }) => name === "get_execution_status");
  expect(others.length).toBeGreaterThan(0);
  for (const { input } of others)
    expect(input).toEqual({ execution_id: expect.stringMatching(/^[a-z\d]{12}$/), wait_ms: 45_000 });
  expect(text).toContain("**slow on lab/box**: PASSED");
});

test("a run that does not end in time is reported as going on, with no verdict", async () => {
  const { text, calls, outcome } = await bench.ask("run endless on box", {
    timeoutMs: 90_000,
    change: ({ name, input }) => ({ name, input: "wait_ms" in input ? { ...input, wait_ms: 0 } : input }),
  });
  expect(calls.filter(({ name }) => name === "execute_testcase")).toHaveLength(1);
  expect(text).toMatch(/^\*\*endless on lab\/box\*\*: (RUNNING|QUEUED)/);
  expect(text).toContain("The run goes on.");
  expect(outcome).toBe("limit");
});

test("an interrupted run ends, on the device too", async () => {
  const before = await runsOf();
  const stop = new AbortController();
  const asked = bench.ask("run endless on box", { signal: stop.signal });
  const ended = expect(asked).rejects.toThrow();
  await vi.waitFor(() => expect(bench.product.services.executions.running()).toBe(1), { timeout: 20_000 });
  stop.abort();
  await ended;
  await vi.waitFor(() => expect(bench.product.services.executions.running()).toBe(0), { timeout: 20_000 });
  expect((await runsOf()).cancelled).toBe((before.cancelled ?? 0) + 1);
});

describe.runIf(hasSandbox)("run-script", () => {
  test("reports verdict, time, report and log of a script", async () => {
    const { text, calls } = await bench.ask("run the warmup script on box");
    expect(calls.find(({ name }) => name === "execute_script")?.input).toMatchObject({
      ...{ script: "warmup.py", device_id: "lab/box" },
    });
    expect(text).toMatch(/^\*\*warmup\.py on lab\/box\*\*: PASSED\n/);
    expect(text).toMatch(/report\.html: artifact:\/\/\w+/);
  });

  test("a failed script is reported with the end of its log", async () => {
    const { text } = await bench.ask("run broken on lab/box");
    expect(text).toMatch(/^\*\*broken\.sh on lab\/box\*\*: FAILED/);
    expect(text).toContain("SCRIPT_FAILED");
    expect(text).toContain("log_tail: the reason");
  });
});
