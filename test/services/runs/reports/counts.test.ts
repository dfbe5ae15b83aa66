import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { besideVerdict, type Execution, type Step, slowNotices } from "#mcp-server/domain/index.ts";
import {
  ctrfReport,
  htmlReport,
  junitReport,
  type ReportEntry,
  type ReportHead,
  readReport,
} from "#mcp-server/services/runs/reports/index.ts";
import { type StepNode, stepTree } from "#mcp-server/views/stepTree.ts";
import { execution, head, step } from "./samples.ts";

/** The same numbers each time, from 0 up to below `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const statuses = ["passed", "failed", "error", "timeout", "cancelled", "queued", "running"] as const;
const reason = { code: "DEVICE_LOST", message: "gone <away> & done" };

function entryOf(at: number, next: (below: number) => number): ReportEntry {
  const status = statuses[next(statuses.length)] ?? "passed";
  const isOpen = status === "queued" || status === "running";
  const flaky = status === "passed" && next(3) === 0;
  const duration_ms = next(100_000);
  const attempts: Execution["attempts"] = [
    { id: `${at}.1`, status: "error", reason, duration_ms: next(500) },
    { id: `${at}.2`, status: "passed", duration_ms: next(500) },
  ];
  const { finished_at: _, duration_ms: _duration, device: _device, ...open } = execution();
  return {
    execution: {
      ...open,
      ...{ id: `run-${at}`, name: `Test ${at} <&>`, status },
      ...(next(4) > 0 && { device: `lab/device-${next(3)}` }),
      ...(!isOpen && {
        duration_ms,
        finished_at: new Date(Date.parse(open.started_at) + duration_ms).toISOString(),
      }),
      ...(flaky && { flaky, attempts }),
      ...(status !== "passed" && !isOpen && { reason }),
    },
    steps: [step(0)],
    pictures: new Map(),
  };
}

const ctrfSchema = z.object({
  results: z.object({
    summary: z.object({
      tests: z.int(),
      passed: z.int(),
      failed: z.int(),
      skipped: z.int(),
      pending: z.int(),
      other: z.int(),
      flaky: z.int(),
      duration: z.int(),
      extra: z.object({ errors: z.int() }),
    }),
    tests: z.array(
      z.object({ name: z.string(), status: z.string(), duration: z.int(), message: z.string().optional() }),
    ),
  }),
});

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

function countsOfJunit(xml: string) {
  const of = (tag: string, name: string) =>
    [...xml.matchAll(new RegExp(`<${tag} [^>]*\\b${name}="([\\d.]+)"`, "g"))].map(([, value]) =>
      Number(value),
    );
  const [tests = 0, failures = 0, errors = 0, skipped = 0] = ["tests", "failures", "errors", "skipped"].map(
    (name) => sum(of("testsuites", name)),
  );
  for (const [name, whole] of Object.entries({ tests, failures, errors, skipped }))
    expect(sum(of("testsuite", name)), name).toBe(whole);
  const ms = (values: readonly number[]) => Math.round(sum(values) * 1_000);
  const duration = ms(of("testsuites", "time"));
  expect(ms(of("testsuite", "time"))).toBe(duration);
  expect(ms(of("testcase", "time"))).toBe(duration);
  expect(xml.match(/<testcase /g) ?? []).toHaveLength(tests);
  expect(xml.match(/<skipped /g) ?? []).toHaveLength(skipped);
  expect(xml.match(/<failure /g) ?? []).toHaveLength(failures);
  expect(xml.match(/<error /g) ?? []).toHaveLength(errors);
  const flaky = (xml.match(/<property name="flaky" value="true"\/>/g) ?? []).length;
  return { tests, passed: tests - failures - errors - skipped, failures, errors, skipped, flaky, duration };
}

function countsOfPage(html: string) {
  const count = (word: string) =>
    numberIn(html, new RegExp(`<span class="count[^"]*"><b>(\\d+)</b> ${word}</span>`));
  const { entries, skipped } = readReport(html);
  return {
    tests: count("runs?") + count("skipped"),
    passed: count("passed") + count("flaky"),
    failed: count("failed"),
    errors: count("errors?"),
    stopped: count("cancelled") + count("not ended"),
    skipped: count("skipped"),
    flaky: count("flaky"),
    duration: sum(entries.map(({ execution: { duration_ms = 0 } }) => duration_ms)),
    named: skipped.length,
  };
}

describe("every report of the same run", () => {
  it.each(Array.from({ length: 40 }, (_, seed) => seed + 1))("has the same counts and times (%i)", (seed) => {
    const next = numbers(seed);
    const entries = Array.from({ length: 1 + next(12) }, (_, at) => entryOf(at, next));
    const skipped = Array.from({ length: next(4) }, (_, at) => ({
      name: `Left "${at}" <&>`,
      reason: "not started",
      isError: next(3) === 0,
    }));
    const own: ReportHead = { ...head, skipped };
    const ctrf = ctrfSchema.parse(JSON.parse(ctrfReport(entries, own))).results;
    const { summary } = ctrf;
    const junit = countsOfJunit(junitReport(entries, own));
    const page = countsOfPage(htmlReport(entries, own));
    const inAll = (name: "tests" | "passed" | "skipped" | "flaky" | "duration") =>
      [junit[name], page[name], summary[name]] as const;
    for (const name of ["tests", "passed", "skipped", "flaky", "duration"] as const)
      expect(new Set(inAll(name)), `${name}: ${inAll(name).join(", ")}`).toHaveLength(1);
    expect([junit.failures, page.failed]).toEqual(Array(2).fill(summary.failed - summary.extra.errors));
    expect(page.errors).toBe(summary.extra.errors);
    expect(page.stopped).toBe(summary.other + summary.pending);
    expect(junit.errors).toBe(page.errors + page.stopped);
    expect(page.named).toBe(skipped.length);
    expect(ctrf.tests.filter(({ status }) => status === "skipped").map(({ name }) => name)).toEqual(
      skipped.filter(({ isError }) => !isError).map(({ name }) => name),
    );
  });

  it("gives the first attempt's reason of a test that passed when it was tried again", () => {
    const attempts: Execution["attempts"] = [
      {
        id: "a.1",
        status: "failed",
        reason: { code: "VERIFICATION_FAILED", message: "first of all" },
        duration_ms: 5,
      },
      { id: "a.2", status: "error", reason, duration_ms: 5 },
      { id: "a.3", status: "passed", duration_ms: 5 },
    ];
    const entry = { execution: execution({ flaky: true, attempts }), steps: [step(0)], pictures: new Map() };
    expect(htmlReport([entry], head)).toContain("The first attempt: VERIFICATION_FAILED: first of all");
    expect(junitReport([entry])).toContain('<flakyFailure type="VERIFICATION_FAILED" message="first of all"');
    const [test] = ctrfSchema.parse(JSON.parse(ctrfReport([entry], head))).results.tests;
    expect(test).toMatchObject({ status: "passed", message: "VERIFICATION_FAILED: first of all" });
  });

  it("shows faults of the app next to a verdict that passed", () => {
    const notices = ["HTTP_ERROR: GET http://shop/api (fetch) answered 500", "file.txt is downloaded"];
    const entry = { execution: execution(), steps: [step(0, { notices })], pictures: new Map() };
    expect(htmlReport([entry], head)).toContain(
      "<ul><li>HTTP_ERROR: GET http://shop/api (fetch) answered 500</li></ul>",
    );
    expect(junitReport([entry])).toContain("notice: HTTP_ERROR: GET http://shop/api (fetch) answered 500");
  });
});

it("a step that took most of its time is said to be slow, and no other", () => {
  expect(slowNotices("click_element", 3_500, 5_000)).toEqual([
    "SLOW: click_element took 3500 ms of its 5000 ms.",
  ]);
  expect(slowNotices("click_element", 3_499, 5_000)).toEqual([]);
  expect(slowNotices("click_element", 9_000, undefined)).toEqual([]);
  expect(slowNotices("click_element", 0, 0)).toEqual([]);
});

it("next to a verdict stand faults of the app, each once", () => {
  const many = Array.from({ length: 12 }, (_, at) => `HTTP_ERROR: GET /${at} (fetch) answered 500`);
  expect(besideVerdict(["a dialog", "SLOW: x", "SLOW: x", "BROWSER_RESTARTED: y"])).toEqual([
    "SLOW: x",
    "BROWSER_RESTARTED: y",
  ]);
  expect(besideVerdict(many)).toEqual([...many.slice(0, 10), "2 more in the steps of the run"]);
});

const lines = (nodes: readonly StepNode[], depth = 0): string[] =>
  nodes.flatMap(({ label, status, children }) => [
    `${"  ".repeat(depth)}${label}${status === "passed" ? "" : `: ${status}`}`,
    ...lines(children, depth + 1),
  ]);

/** Paths in the order in which the steps end; the label of each is its place in that order. */
const treeOf = (...paths: [path: string, kind?: string, status?: Step["status"]][]) =>
  lines(
    stepTree(
      paths.map(([path, kind = "action", status = "passed"], at) =>
        step(at, { path, kind, status, label: `${at} ${path}` }),
      ),
    ),
  );

test("attempts and the set-up are groups, each as bad as the worst step in it", () => {
  expect(
    treeOf(
      ["attempt1/setup/open"],
      ["attempt1/look", "verification", "failed"],
      ["attempt2/setup/open"],
      ["attempt2/look", "verification"],
    ),
  ).toEqual([
    "attempt 1: failed",
    "  set-up",
    "    0 attempt1/setup/open",
    "  1 attempt1/look: failed",
    "attempt 2",
    "  set-up",
    "    2 attempt2/setup/open",
    "  3 attempt2/look",
  ]);
});

test("two walks keep their own legs, and a name that only begins alike is not a parent", () => {
  expect(
    treeOf(["go", "navigation"], ["go", "navigation"], ["go2", "navigation"], ["go2", "navigation"], ["g"]),
  ).toEqual(["1 go", "  0 go", "3 go2", "  2 go2", "4 g"]);
});

test("the calls of a script stand under its block; steps without a path stay as they are", () => {
  expect(
    treeOf(["s/tool", "tool"], ["s/tool", "tool", "error"], ["s/script", "script"], ["s", "script"]),
  ).toEqual(["3 s", "  0 s/tool", "  1 s/tool: error", "  2 s/script"]);
  expect(treeOf(["", "navigation"], ["", "navigation"])).toEqual(["0 ", "1 "]);
});

test("rounds of a loop whose own step was never recorded stay in their order", () => {
  expect(treeOf(["loop[0]/look"], ["loop[1]/look"])).toEqual(["0 loop[0]/look", "1 loop[1]/look"]);
});
