import { describe, expect, test } from "vitest";
import { systemClock } from "#agent-client/clock.ts";
import type { CaseResult, ExecutionResult, RiskFlag } from "#agent-client/messages/contents.ts";
import { criticRole } from "#agent-client/roles/agents.ts";
import { type ReviewFacts, reviewResults } from "#agent-client/roles/critic.ts";
import { createDesk } from "#agent-client/roles/desk.ts";
import type { Executor } from "#agent-client/roles/executor.ts";
import { causeOf } from "#agent-client/roles/executors/causes.ts";
import { planSchema } from "#agent-client/roles/plan.ts";
import { type LabFacts, planFlags } from "#agent-client/roles/planGuards.ts";
import { mostRounds, runQa } from "#agent-client/roles/qa.ts";
import { fakeToolbox } from "../planExecute/taskLab.ts";
import { draft, steps } from "./drafts.ts";

const never = new AbortController().signal;
const quiet = { signal: never, progress: () => undefined };
const flagsOf = (flags: readonly RiskFlag[]) => flags.map(({ flag, severity }) => `${severity} ${flag}`);

const oneCase = { id: "a", executor: "web", covers: ["pay"], priority: "P1", steps };
const plan = (given: object = {}) =>
  planSchema.parse({
    ...{ goal: "Pay", strategy: "One case", risks: [{ id: "pay", area: "paying", level: "high" }] },
    ...{ cases: [oneCase], ...given },
  });

describe("planner", () => {
  const flags = (given: object = {}, facts: LabFacts = {}) => flagsOf(planFlags(plan(given), facts));

  test("a sound plan has no finding", () => {
    expect(flags()).toEqual([]);
  });

  test("over-planning: far more cases than risks and requirements", () => {
    const cases = [...Array(13).keys()].map((at) => ({ ...oneCase, id: `c${at}` }));
    expect(flags({ cases })).toEqual(["warning OVER_PLANNING"]);
    expect(flags({ cases: cases.slice(1) })).toEqual([]);
  });

  test("missed critical paths: a high risk or a P1 requirement that nothing checks", () => {
    const requirements = ["REQ-001", "REQ-002"];
    const facts = {
      requirements: [
        { code: "REQ-001", priority: "P1" },
        { code: "REQ-002", priority: "P2" },
      ],
    };
    expect(flags({ requirements }, facts)).toEqual(["blocker MISSED_CRITICAL_PATH", "info NOT_COVERED"]);
    const not_covered = [{ id: "REQ-001", reason: "tested by hand" }];
    expect(flags({ requirements, not_covered }, facts)).toContain("warning MISSED_CRITICAL_PATH");
  });

  test("outdated assumptions: a test case or a requirement that is not there any more", () => {
    const { steps: _, ...bare } = oneCase;
    const given = { cases: [{ ...bare, testcase: "pay by card" }], requirements: ["REQ-009"] };
    const facts = { testcases: ["pay by bill"], requirements: [] };
    expect(flags(given, facts)).toEqual([
      "info NOT_COVERED",
      "blocker OUTDATED_ASSUMPTION",
      "warning OUTDATED_ASSUMPTION",
    ]);
    expect(flags(given, { testcases: ["pay by card"] })).toEqual(["info NOT_COVERED"]);
  });

  test("endpoints without an address are a finding, not a crash", () => {
    const endpoints = [{ method: "GET", path: "/orders", covers: ["pay"] }];
    expect(flags({ endpoints })).toEqual(["blocker PLAN_INVALID"]);
    expect(flags({ endpoints, base_url: "http://shop.test" })).toEqual([]);
  });

  test("poor prioritization: a high risk behind cases that check none", () => {
    const idle = { ...oneCase, id: "idle", covers: [] };
    expect(flags({ cases: [{ ...oneCase, priority: "P2" }, idle] })).toEqual(["warning POOR_PRIORITY"]);
    expect(flags({ cases: [oneCase, idle] })).toEqual([]);
  });

  test("cost explosion: an estimate over the budget of time or money", () => {
    const cases = [{ ...oneCase, estimate: "5 minutes" }];
    expect(flags({ cases, budget: { max_execution_time: "4 minutes" } })).toEqual(["blocker COST_EXPLOSION"]);
    expect(flags({ cases, budget: { max_cost: "$0.30", cost_per_minute: "$0.10" } })).toEqual([
      "blocker COST_EXPLOSION",
    ]);
    expect(flags({ cases, budget: { max_cost: "$0.60", cost_per_minute: "$0.10" } })).toEqual([]);
  });

  test("findings go back to the executor, and the second report shows the change", async () => {
    const ran: unknown[] = [];
    const web: Executor["run"] = async ({ message }) => {
      const isFirst = ran.push(message.payload) === 1;
      const one = isFirst
        ? { case: "a", status: "BLOCKED", covers: ["pay"] }
        : { case: "a", status: "PASSED", covers: ["pay"], verified_count: 1, execution_id: "e1" };
      return { payload: { ...execution([]), status: one.status, results: [one] } };
    };
    const order = { goal: "Pay", scope: {}, overrides: {}, plan: plan(), ...quiet };
    const report = await runQa(order, { desk: deskOf([web], "web"), clock: systemClock });
    expect(ran).toHaveLength(2);
    const changed = ["a: BLOCKED to PASSED", expect.stringMatching(/quality score \d+ to \d+/)];
    expect(report).toMatchObject({ status: "PASSED", rounds: [{ to: "executor", changed }] });
  });

  test("infinite replanning loops: findings go back a bounded number of times, then the plan is refused", async () => {
    let planned = 0;
    const cases = [{ ...oneCase, depends_on: ["a"] }];
    const planner: Executor["run"] = async () => {
      planned += 1;
      return { payload: { status: "PASSED", errors: [], plan: plan({ cases }) } };
    };
    const report = await runQa(
      { goal: "Pay", scope: {}, overrides: {}, ...quiet },
      { desk: deskOf([planner]), clock: systemClock },
    );
    expect(planned).toBe(1 + mostRounds);
    expect(report).toMatchObject({ status: "BLOCKED", parts: [], errors: [{ code: "PLAN_INVALID" }] });
    expect(report.rounds).toHaveLength(mostRounds);
  });

  function deskOf([run]: [Executor["run"]], role: Executor["role"] = "planner") {
    const deps = {
      ...{ toolbox: fakeToolbox([], () => ({ parts: [], isError: true })), clock: systemClock },
      ...{ agents: [], policy: { judge: async () => undefined }, skillRunner: () => undefined },
    };
    const health = async () => ({ isUp: true, load: 0, reason: "" });
    const executors = [{ name: role, role, health, run }, criticRole(deps)];
    return createDesk({
      executors: async () => executors,
      log: { add: async () => undefined },
      clock: systemClock,
    });
  }
});

const result = (given: Partial<CaseResult> = {}): CaseResult => ({
  ...{ case: "a", status: "PASSED", execution_id: "e1", verified_count: 1, attempts: 1 },
  ...{ flaky: false, duration_ms: 10, covers: ["pay"], ...given },
});
const execution = (results: CaseResult[], given: Partial<ExecutionResult> = {}): ExecutionResult => ({
  ...{ status: "PASSED", results, artifacts: [], errors: [] },
  metrics: { cases: results.length, passed: 0, checks: 0, retries: 0, duration_ms: 0, cost_usd: 0 },
  ...given,
});
const facts = (given: Partial<ReviewFacts>): ReviewFacts => ({
  ...{ result: execution([result()]), judgements: [], aims: [{ id: "pay", isCritical: true }] },
  ...{ known_issues: [], ...given },
});
const failed = (code: string, message = code) =>
  execution([result({ status: "FAILED" })], {
    status: "FAILED",
    errors: [{ case: "a", code, message, severity: "medium" }],
  });
const review = (given: Partial<ReviewFacts>) => flagsOf(reviewResults(facts(given)).risk_flags);

describe("web executor", () => {
  const isApi = false;

  test("flaky tests: a pass after a failure stays a pass, and is flagged for a repetition", () => {
    expect(review({ result: execution([result({ flaky: true, attempts: 2 })]) })).toEqual(["warning FLAKY"]);
  });

  test("stale selectors are told from a broken app", () => {
    expect(causeOf({ code: "ELEMENT_NOT_FOUND", message: "no such element" }, { isApi })).toEqual({
      ...{ code: "STALE_SELECTOR", fault: "test" },
    });
    expect(causeOf({ code: "VERIFICATION_FAILED", message: "expected Done" }, { isApi }).fault).toBe("app");
  });

  test("environment instability is the lab's fault and no failure of the app", () => {
    expect(causeOf({ code: "ENVIRONMENT_SLOW", message: "too slow" }, { isApi })).toEqual({
      ...{ code: "ENVIRONMENT_UNSTABLE", fault: "lab" },
    });
  });

  test("browser incompatibility: failed on one browser and passed on another", () => {
    const results = [
      result({ browser: "chrome" }),
      result({ browser: "firefox", execution_id: "e2", status: "FAILED" }),
    ];
    const errors = [
      { case: "a", code: "VERIFICATION_FAILED", message: "not Done", severity: "medium" as const },
    ];
    expect(review({ result: execution(results, { status: "FAILED", errors }) })).toContain(
      "warning BROWSER_INCOMPATIBLE",
    );
  });
});

describe("API executor", () => {
  const isApi = true;
  const found = (message: string) => causeOf({ code: "VERIFICATION_FAILED", message }, { isApi });
  const curl = " Repeat it with: curl -i 'http://shop.test/401/400'";

  test("incorrect test data: the API refuses what was sent", () => {
    expect(found(`expected status 2xx; found status 422.${curl}`)).toEqual({
      code: "WRONG_TEST_DATA",
      fault: "test",
    });
    expect(causeOf({ code: "UNKNOWN_VARIABLE", message: "no such name" }, { isApi }).code).toBe(
      "WRONG_TEST_DATA",
    );
  });

  test("broken contracts: a reply that does not fit its schema", () => {
    expect(found(`expected a reply of the schema; found $.total must be string.${curl}`)).toEqual({
      ...{ code: "BROKEN_CONTRACT", fault: "app" },
    });
  });

  test("auth or token expiry: 401 where the request is signed in", () => {
    expect(found(`expected status 200; found status 401.${curl}`)).toEqual({
      code: "AUTH_EXPIRED",
      fault: "lab",
    });
  });

  test("environment mismatch: nobody answers at the address", () => {
    const message = "http://shop.test did not answer: connect ECONNREFUSED 127.0.0.1:9";
    expect(found(message)).toEqual({ code: "ENVIRONMENT_MISMATCH", fault: "lab" });
  });
});

describe("critic", () => {
  test("over-critical feedback: a sound run has no flag, and one cause is told once", () => {
    expect(reviewResults(facts({}))).toMatchObject({
      quality_score: 100,
      severity_level: "info",
      feedback_target: "none",
    });
    const two = [result({ status: "FAILED" }), result({ case: "b", execution_id: "e2", status: "FAILED" })];
    const errors = two.map((one) => ({
      case: one.case,
      code: "STALE_SELECTOR",
      message: "gone",
      severity: "low" as const,
    }));
    const { risk_flags } = reviewResults(facts({ result: execution(two, { status: "FAILED", errors }) }));
    expect(risk_flags).toMatchObject([{ flag: "STALE_SELECTOR", cases: ["a", "b"] }]);
  });

  test("false positives: each flag has evidence, and what the record leaves open is a doubt and no finding", () => {
    const judgements = [
      { execution_id: "e1", status: "passed", decided: false, summary: "a step did not pass", evidence: [] },
    ];
    const { risk_flags } = reviewResults(facts({ judgements }));
    expect(risk_flags).toMatchObject([{ flag: "FALSE_PASS", severity: "warning", evidence: ["e1"] }]);
  });

  test("lack of domain context: what is a known issue is mentioned, and blocks nothing", () => {
    const known_issues = ["intermittent token expiry"];
    const given = { result: failed("AUTH_EXPIRED", "the token is expired: found 401"), known_issues };
    expect(reviewResults(facts(given))).toMatchObject({ severity_level: "info", feedback_target: "none" });
    expect(review({ result: failed("AUTH_EXPIRED", "the token is expired: found 401") })).toEqual([
      "warning AUTH_EXPIRED",
    ]);
  });

  test("delayed feedback: a model that is too slow costs the words, not the review", async () => {
    const answer = { structured: { judgements: [] }, parts: [], isError: false };
    const role = criticRole({
      ...{
        toolbox: fakeToolbox([], () => answer),
        clock: systemClock,
        policy: { judge: async () => undefined },
      },
      agents: [{ ...critic, config: { ...critic.config, enabled: true } }],
      skillRunner: () => () => new Promise(() => undefined),
    });
    const payload = { summary: { status: "PASSED" }, test_cases: [result()], aims: [] };
    const message = draft({
      message_type: "TestExecutionResultReview",
      payload,
      constraints: { max_analysis_time: 50 },
    });
    expect(await role.run({ message, ...quiet })).toMatchObject({
      payload: { quality_score: 100, risk_flags: [] },
    });
  });
});

const critic = {
  ...{
    name: "critic",
    nickname: "C",
    description: "c",
    mode: "role" as const,
    accepts: ["X"],
    system_prompt: "c",
  },
  ...{ available_skills: ["review-results"], selectable: false, default: false, user_skills: false },
  ...{ triggers: [], approvals: [], suggestions: [] },
  config: { enabled: true, max_parallel_tasks: 1, timeout_seconds: 9, dry_run: true, limits: {} },
};
