import { describe, expect, test } from "vitest";
import type { Coverage, ExecutionStatus } from "#mcp-server/domain/index.ts";
import {
  countsOf,
  coverageView,
  type LinkedRun,
  outcomeOf,
  partsOf,
  summaryView,
  uncoveredView,
  verdictOf,
} from "#mcp-server/services/lab/requirements/views.ts";
import type { RequirementCoverage } from "#mcp-server/storage/index.ts";

const link = (coverage: Coverage, status?: ExecutionStatus): LinkedRun => ({ coverage, status });
const judge = (...links: LinkedRun[]) => verdictOf(partsOf(links));

describe("the verdict on a requirement", () => {
  test.each<[string, LinkedRun[], string]>([
    ["no link", [], "uncovered"],
    ["a full link that has not run", [link("full")], "not_run"],
    ["a partial link that has not run", [link("partial")], "not_run"],
    ["a full link that passed", [link("full", "passed")], "passed"],
    ["a partial link that passed", [link("partial", "passed")], "partial"],
    ["only partial links, all passed", [link("partial", "passed"), link("partial", "passed")], "partial"],
    [
      "a full one among partial ones, all passed",
      [link("partial", "passed"), link("full", "passed")],
      "passed",
    ],
    ["a full link that failed", [link("full", "failed")], "failed"],
    ["a partial link that failed", [link("partial", "failed")], "failed"],
    ["a run that could not be judged", [link("full", "error")], "failed"],
    ["a run that took too long", [link("full", "timeout")], "failed"],
    ["one failure among passes", [link("full", "passed"), link("partial", "failed")], "failed"],
    ["a failure and a run that is missing", [link("full"), link("partial", "failed")], "failed"],
    ["a pass and a run that is missing", [link("full", "passed"), link("partial")], "not_run"],
    ["a run that was stopped", [link("full", "cancelled")], "not_run"],
    ["a run that goes on", [link("full", "running")], "not_run"],
    ["a run that waits", [link("full", "queued")], "not_run"],
  ])("of %s", (_, links, verdict) => {
    expect(judge(...links)).toBe(verdict);
  });

  test("does not depend on the order of links, and both counts of its parts add up to them", () => {
    const kinds = [
      link("full"),
      link("full", "passed"),
      link("full", "failed"),
      link("partial"),
      link("partial", "passed"),
      link("partial", "error"),
    ];
    for (const a of kinds)
      for (const b of kinds) {
        expect(judge(a, b)).toBe(judge(b, a));
        const { full, partial, passed, failed, not_run } = partsOf([a, b]);
        expect([full + partial, passed + failed + not_run]).toEqual([2, 2]);
        if (judge(a, b) === "passed") expect([a, b].map(outcomeOf)).toEqual(["passed", "passed"]);
      }
  });
});

const run = (status: ExecutionStatus) => ({ status, execution_id: status, at: "2030-01-01T00:00:00.000Z" });
const fact = (code: string, more: Partial<RequirementCoverage> = {}): RequirementCoverage => ({
  code,
  name: code,
  priority: "P2",
  testcases: [],
  ...more,
});
const passing = [{ testcase: "t", coverage: "full" as const, run: run("passed") }];

describe("what a caller reads", () => {
  test("a requirement's test cases, those that decided first, and its parts also when not all are shown", () => {
    const testcases = [
      { testcase: "a", coverage: "full" as const, run: run("passed") },
      { testcase: "b", coverage: "partial" as const },
      { testcase: "c", coverage: "partial" as const, run: run("error") },
    ];
    const whole = coverageView(testcases, 2_000);
    expect(whole).toEqual({
      verdict: "failed",
      parts: { full: 1, partial: 2, passed: 1, failed: 1, not_run: 1 },
      testcases: [
        { testcase: "c", coverage: "partial", ...run("error") },
        { testcase: "b", coverage: "partial" },
        { testcase: "a", coverage: "full", ...run("passed") },
      ],
      more: 0,
    });
    const short = coverageView(testcases, 50);
    expect(short).toMatchObject({ verdict: "failed", parts: whole.parts, more: 2 });
    expect(short.testcases).toEqual(whole.testcases.slice(0, 1));
  });

  test("shares are rounded down, so that 100 means all, and there are none of nothing", () => {
    const most = Array.from({ length: 2_000 }, (_, n) => ({
      verdict: n === 0 ? ("uncovered" as const) : ("passed" as const),
    }));
    expect(countsOf(most)).toMatchObject({ n: 2_000, covered_percent: 99.9, passed_percent: 99.9 });
    expect(countsOf(most.slice(1))).toMatchObject({ covered_percent: 100, passed_percent: 100 });
    expect(countsOf(Array.from({ length: 3 }, (_, n) => most[n] ?? { verdict: "passed" }))).toMatchObject({
      covered_percent: 66.6,
    });
    expect(countsOf([])).toEqual({ n: 0, uncovered: 0, not_run: 0, failed: 0, partial: 0, passed: 0 });
  });

  test("counts in all, by priority and by category, where every group adds up", () => {
    const summary = summaryView(
      [
        fact("R1", { priority: "P1", category: "login", testcases: passing }),
        fact("R2", { priority: "P1", category: "player" }),
        fact("R3", { category: "login", testcases: [{ testcase: "u", coverage: "partial" }] }),
        fact("R4"),
      ],
      2_000,
    );
    expect(summary).toMatchObject({ n: 4, uncovered: 2, not_run: 1, passed: 1, covered_percent: 50 });
    expect(summary.by_priority).toMatchObject([
      { priority: "P1", n: 2, passed: 1, passed_percent: 50 },
      { priority: "P2", n: 2, not_run: 1, uncovered: 1, passed_percent: 0 },
    ]);
    expect(summary.by_category).toMatchObject([
      { category: "login", n: 2 },
      { category: "player", n: 1 },
    ]);
    expect(summary.no_category).toMatchObject({ n: 1, uncovered: 1 });
    expect(summary.more).toBe(0);
    const nothing = summaryView([], 2_000);
    expect(nothing).toMatchObject({ n: 0, by_priority: [], by_category: [], more: 0 });
    expect(nothing).not.toHaveProperty("no_category");
  });

  test("as many categories and gaps as fit, and how many did not", () => {
    const many = Array.from({ length: 300 }, (_, n) => fact(`R${n}`, { category: `category ${n}` }));
    const summary = summaryView(many, 1_000);
    expect(summary.n).toBe(300);
    expect(summary.by_category.length).toBeGreaterThan(1);
    expect(summary.by_category.length + summary.more).toBe(300);
    expect(summary.more).toBeGreaterThan(0);
    const gaps = uncoveredView(
      many.map(({ code, name, priority }, n) => ({ code, name, priority, partial: n % 3 === 0 ? 1 : 0 })),
      500,
    );
    expect([gaps.no_link, gaps.only_partial]).toEqual([200, 100]);
    expect(gaps.requirements.length + gaps.more).toBe(300);
    expect(gaps.requirements.slice(0, 2).map(({ covered }) => covered)).toEqual(["only partial", "no"]);
  });
});
