import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { simulatedFactory } from "@labwright/controllers/lab";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunConnection, type RunOptions, runTestcases } from "#mcp-server/cli/run/run.ts";
import { builtInFactories } from "#mcp-server/config/controllers.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { connectionTo } from "./fixtures.ts";

/** A box that can be copied, as a browser can, and two that exist once. */
const copied = { ...simulatedFactory, copy: (settings: unknown) => settings };
const factories = builtInFactories.map((factory) => (factory.name === "simulated" ? copied : factory));
const yaml = `limits: { max_parallel_devices: 3 }
devices:
  - { name: box, model: simulated }
  - { name: phone, model: once, count: 2, controllers: { simulated_infrared: {} } }
models: [{ name: once, drivers: [simulated] }]`;

let product: Product;
let runner: TestClient;
let other: TestClient;
let folder: string;
beforeAll(async () => {
  product = await openProduct(yaml, {}, factories);
  runner = await product.connect({ client: "runner" });
  other = await product.connect({ client: "other" });
  folder = await mkdtemp(join(tmpdir(), "labwright-workers-"));
  for (const name of ["a", "b", "c", "d", "e", "f"]) await save(name, [sees("Welcome")], { tags: ["good"] });
  // The port is closed, which is an error of the test alone.
  const request = { type: "api_request", url: "http://127.0.0.1:9/", checks: [{ status: 200 }] };
  await save("api", [request], { tags: ["none"] });
});
afterAll(async () => {
  await product.dispose();
  await rm(folder, { recursive: true, force: true });
});

let out: string;
let err: string;
beforeEach(() => {
  out = "";
  err = "";
});
afterEach(async () => {
  expect(await product.services.devices.leases()).toEqual([]);
  const names = product.services.devices.list().map(({ name }) => name);
  expect(names).toEqual(["box", "phone", "phone-2"]);
});

type Given = Record<string, unknown>;
const sees = (text: string): Given => ({
  type: "verification",
  command: "text_visible",
  params: { text },
  timeout_ms: 0,
});
const press: Given = { type: "action", command: "press_key", params: { key: "DOWN" } };

async function save(name: string, blocks: readonly Given[], more: Given = {}): Promise<void> {
  const all = [{ type: "start" }, ...blocks, { type: "success" }].map((block, at) => ({
    id: `b${at}`,
    ...block,
  }));
  const edges = all.slice(1).map(({ id }, at) => ({ from: `b${at}`, to: id }));
  const { error } = await other.call("save_testcase", {
    testcase: { name, blocks: all, edges, ...more },
    replace: true,
  });
  expect(error).toBeUndefined();
}

/** Runs so many tests at once: the tests that the daemon had under way, at most. */
let most = 0;
function connection(): RunConnection {
  const { call, artifact } = connectionTo(product, runner);
  return {
    call(...given) {
      most = Math.max(most, product.services.executions.running());
      return call(...given);
    },
    artifact,
  };
}

const run = (
  more: Partial<RunOptions>,
  terminal: { signal?: AbortSignal; ask?: (question: string) => Promise<string | undefined> } = {},
) =>
  runTestcases({ testcases: [], inputs: [], repeat: 1, device: "box", ...more }, connection(), {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    cwd: folder,
    signal: new AbortController().signal,
    ...terminal,
  });

const lines = () =>
  out
    .split("\n")
    .map((line) => line.replace(/^\[\d+\/\d+\] /, ""))
    .filter((line) => /^(passed|failed|error|cancelled) /.test(line));
const devicesOf = () => [...new Set(lines().map((line) => line.split(/ {2,}/)[3]))].sort();

test("workers get a copy each, as many as may run, and say why there are no more", async () => {
  expect(await run({ tags: ["good"], workers: 5 })).toBe(0);
  expect(err).toMatch(/^3 of 5 workers: box, box-2, box-3; .*limits\.max_parallel_devices/);
  expect(lines()).toHaveLength(6);
  expect(devicesOf().length).toBeGreaterThan(1);
  expect(out).toContain("6 runs: 6 passed\n");
});

test("a device that is there once has workers on the free ones of its model alone", async () => {
  expect(await run({ tags: ["good"], device: "phone", workers: 3 })).toBe(0);
  expect(err).toBe("2 of 3 workers: phone, phone-2; no further device of the model once is free.\n");
  await other.call("take_control", { device_id: "phone-2" });
  err = "";
  expect(await run({ tags: ["good"], device: "phone", workers: 2 })).toBe(0);
  expect(err).toBe("1 of 2 workers: phone; no further device of the model once is free.\n");
  await other.call("release_control", { device_id: "phone-2" });
});

test("Ctrl-C cancels what runs on every worker, and lists what was not run", async () => {
  await save("long", [{ type: "sleep", duration_ms: 600_000 }, sees("Welcome")]);
  const interrupt = new AbortController();
  const both = run({ testcases: ["long", "long", "a"], workers: 2 }, { signal: interrupt.signal });
  await expect.poll(() => product.services.executions.running(), { timeout: 20_000 }).toBe(2);
  interrupt.abort();
  expect(await both).toBe(130);
  expect(lines().map((line) => line.split(" ")[0])).toEqual(["cancelled", "cancelled"]);
  expect(out).toContain("skipped:   a\n2 runs: 0 passed, 2 cancelled, 1 skipped\n");
});

test("a held device is reported at once with its holder, and waited for only when asked", async () => {
  await other.call("take_control", { device_id: "box" });
  await expect(run({ testcases: ["a"] })).rejects.toMatchObject({
    code: "DEVICE_HELD",
    message: expect.stringMatching(/box is held by other .* until 20/),
    hint: expect.stringContaining("--wait-device"),
  });
  await expect(run({ testcases: ["a"], waitDevice: 0.1 })).rejects.toMatchObject({
    code: "DEVICE_HELD",
    hint: expect.stringContaining("not released within 0.1 s"),
  });
  err = "";
  const waiting = run({ testcases: ["a"], waitDevice: 30 });
  await expect.poll(() => err).toMatch(/box is held by other .* Waiting up to 30 s for it\.\n$/);
  await other.call("release_control", { device_id: "box" });
  expect(await waiting).toBe(0);
});

test("tests that need no device take none, with a filter alone", async () => {
  await other.call("take_control", { device_id: "box" });
  await run({ device: undefined, tags: ["none"], workers: 2 });
  expect(lines()).toEqual([expect.stringMatching(/^(passed|error) +api {2}[\d.]+ s {2}\w{8,}$/)]);
  await other.call("release_control", { device_id: "box" });
});

test("after so many failures no test is started, and the rest is listed as not run", async () => {
  for (const name of ["x1", "x2", "x3", "x4"]) await save(name, [sees("Nothing")], { tags: ["bad"] });
  expect(await run({ tags: ["bad"], maxFailures: 2 })).toBe(1);
  expect(out).toContain("skipped:   x3, x4\n2 runs: 0 passed, 2 failed, 2 skipped\n");
});

test("a place where no report can be written is reported before anything runs", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(run({ testcases: ["a"], report: "file/reports" })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("Reports cannot be written"),
  });
  expect(out).toBe("");
  await expect(run({ testcases: ["no such test"], report: "kept" })).rejects.toMatchObject({
    code: "TESTCASE_NOT_FOUND",
  });
  expect(await readdir(join(folder, "kept"))).toEqual([]);
});

test("what contradicts itself is refused", async () => {
  const refused = { code: "INVALID_INPUT" };
  await expect(run({ workers: 2, keep: true })).rejects.toMatchObject(refused);
  await expect(run({ workers: 2, debug: true }, { ask: async () => "n" })).rejects.toMatchObject(refused);
  await expect(run({ debug: true })).rejects.toMatchObject(refused);
});

test("--slow pauses behind each command", async () => {
  await save("steps", [press, press, sees("Welcome")]);
  expect(await run({ testcases: ["steps"], slow: 150 })).toBe(0);
  const [, seconds] = / ([\d.]+) s /.exec(lines()[0] ?? "") ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(0.3);
});

test("--debug stops before each step, looks, goes on and stops", async () => {
  await save("stepped", [press, press, sees("Welcome")]);
  const answers = ["", "look", "n", "run on"];
  const ask = async () => answers.shift();
  expect(await run({ testcases: ["stepped"], debug: true }, { ask })).toBe(0);
  expect([...out.matchAll(/^step (\d): (.*)$/gm)].map(([line]) => line)).toEqual([
    "step 1: press_key DOWN",
    "step 2: press_key DOWN",
    expect.stringContaining("step 3: "),
  ]);
  expect(out).toMatch(/^e\d+ .*Movies/m);
  expect(answers).toEqual([]);
  out = "";
  answers.push("stop");
  expect(await run({ testcases: ["stepped", "a"], debug: true }, { ask })).toBe(2);
  expect(out).toMatch(/^step 1: press_key DOWN\n\[1\/2\] cancelled +stepped .*/);
  expect(out).toContain("skipped:   a\n1 run: 0 passed, 1 cancelled, 1 skipped\n");
});

test("a retry drives by the lease of its run", async () => {
  const [first, again] = [press, { ...press, params: { key: "UP" } }];
  await save("twice", [first, sees("Nothing"), again]);
  expect(await run({ testcases: ["twice"], retries: 1, retryOn: "any" })).toBe(1);
  expect(out).not.toContain("FENCE_OUTDATED");
  expect(out.match(/attempt \d failed: VERIFICATION_FAILED/g)).toHaveLength(2);
});
