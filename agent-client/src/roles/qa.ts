import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  type ExecutionResult,
  executionResultSchema,
  type Review,
  type RiskFlag,
  reviewSchema,
  scenarioSchema,
} from "../messages/contents.ts";
import { type Envelope, type MessageDraft, newMessage } from "../messages/envelope.ts";
import { type StatusCode, worstOf } from "../messages/status.ts";
import type { Clock } from "../ports.ts";
import type { Desk } from "./desk.ts";
import { planSchema, requestsOf, type TestPlan, viewOf } from "./plan.ts";

export type QaOrder = {
  goal: string;
  /** What the planner gets besides the goal. */
  scope: Readonly<Record<string, unknown>>;
  /** In place of the planner's. */
  plan?: TestPlan | undefined;
  /** Replace what the plan says. */
  overrides: Partial<Pick<TestPlan, "environment" | "release" | "build" | "matrix" | "openapi" | "urls">> & {
    budget?: Partial<TestPlan["budget"]>;
  };
  signal: AbortSignal;
  progress(text: string): void;
};

/** What one executor came to: its last result and its review. */
export type QaPart = { layer: string; result: ExecutionResult; review: Review };

export type QaReport = {
  correlation_id: string;
  goal: string;
  status: StatusCode;
  /** The lowest of the reviews; 0 when nothing ran. */
  quality_score: number;
  severity_level: Review["severity_level"];
  plan?: ReturnType<typeof viewOf>;
  plan_review?: Review;
  parts: QaPart[];
  /** How often findings went back, and what that changed. */
  rounds: { round: number; to: "planner" | "executor"; why: string[]; changed: string[] }[];
  errors: { code: string; message: string }[];
  cost_usd: number;
};

/** How often findings go back to the planner, and how often to an executor. */
export const mostRounds = 2;

const lastMs = 20_000;

/** Flags that a repetition can change. */
const repeatable: ReadonlySet<string> = new Set([
  "FLAKY",
  "NOT_FINISHED",
  "MISSING_EVIDENCE",
  "ENVIRONMENT_UNSTABLE",
]);
const again: ReadonlySet<StatusCode> = new Set(["ERROR", "BLOCKED", "NOT_RUN"]);

const withCost = z.looseObject({ cost_usd: z.number().default(0) });
const plannedSchema = withCost.extend({
  plan: planSchema.optional(),
  errors: z.array(z.looseObject({ code: z.string(), message: z.string() })).default([]),
});

/** A goal to its report: plan, review of the plan, execution, critique. Findings go back at most `mostRounds` times. */
export function runQa(order: QaOrder, deps: { desk: Desk; clock: Clock }): Promise<QaReport> {
  return new QaRun(order, deps).run();
}

class QaRun {
  private readonly correlation_id = randomUUID();
  private readonly report: QaReport;

  constructor(
    private readonly order: QaOrder,
    private readonly deps: { desk: Desk; clock: Clock },
  ) {
    const { goal } = order;
    this.report = {
      ...{ correlation_id: this.correlation_id, goal, status: "NOT_RUN", quality_score: 0 },
      ...{ severity_level: "info", parts: [], rounds: [], errors: [], cost_usd: 0 },
    };
  }

  async run(): Promise<QaReport> {
    try {
      const plan = await this.reviewedPlan();
      if (plan && this.isAffordable(plan)) await this.execute(plan);
    } catch (error) {
      if (!this.order.signal.aborted) throw error;
    }
    return this.concluded();
  }

  /** What models cost before anything ran counts, too. */
  private isAffordable({ budget: { max_cost } }: TestPlan): boolean {
    const { cost_usd, errors } = this.report;
    if (max_cost === undefined || cost_usd <= max_cost) return true;
    const message = `Planning cost $${cost_usd.toFixed(2)}, over the budget of $${max_cost}. Nothing was run.`;
    errors.push({ code: "BUDGET_EXCEEDED", message });
    return false;
  }

  private async send(draft: MessageDraft): Promise<Envelope> {
    const { order, correlation_id } = this;
    const { desk, clock } = this.deps;
    const message = newMessage({ ...draft, correlation_id }, { clock, newId: randomUUID });
    // What was cancelled is reviewed all the same.
    const signal =
      draft.recipient === "CriticAgent" && order.signal.aborted ? AbortSignal.timeout(lastMs) : order.signal;
    // As it goes over a wire.
    const reply = await desk.deliver(JSON.parse(JSON.stringify(message)), { ...order, signal });
    this.report.cost_usd += withCost.parse(reply.payload).cost_usd;
    return reply;
  }

  /** The plan that runs; undefined when there is none, or its findings are such that it must not. */
  private async reviewedPlan(): Promise<TestPlan | undefined> {
    const { plan: given } = this.order;
    let plan = given ? this.overridden(given) : await this.planned([]);
    for (let round = 1; plan; round++) {
      const bad = await this.blockersIn(plan);
      if (bad.length === 0 || given || round > mostRounds) return this.approved(plan, bad);
      const score = this.report.plan_review?.quality_score;
      plan = await this.planned(bad);
      if (plan) this.noteRound(round, "planner", bad, [`replanned; the plan's score was ${score}`]);
    }
    return undefined;
  }

  private async blockersIn(plan: TestPlan): Promise<RiskFlag[]> {
    const review = await this.planReview(plan);
    this.report.plan_review = review;
    const bad = review.risk_flags.filter(({ severity }) => severity === "blocker");
    for (const { flag, message } of bad) this.order.progress(`plan: ${flag}: ${message}`);
    return bad;
  }

  /** A plan whose findings remain runs, unless they make its run worthless. */
  private approved(plan: TestPlan, bad: readonly RiskFlag[]): TestPlan | undefined {
    const fatal = bad.filter(({ flag }) => mustNotRun.has(flag));
    this.report.errors.push(...fatal.map(({ flag: code, message }) => ({ code, message })));
    this.report.plan = fatal.length > 0 ? safeView(plan) : viewOf(plan);
    return fatal.length > 0 ? undefined : plan;
  }

  private overridden(plan: TestPlan): TestPlan {
    const { budget, ...rest } = this.order.overrides;
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const limits = Object.fromEntries(
      Object.entries(budget ?? {}).filter(([, value]) => value !== undefined),
    );
    return { ...plan, ...given, budget: { ...plan.budget, ...limits } };
  }

  private async planned(findings: readonly RiskFlag[]): Promise<TestPlan | undefined> {
    const { goal, scope, overrides } = this.order;
    this.order.progress(findings.length > 0 ? "planning again" : "planning");
    const { payload } = await this.send({
      ...{
        message_type: "QaPlanRequest",
        sender: "QaClient",
        recipient: "PlannerAgent",
        intent: goal.slice(0, 1_000),
      },
      payload: { goal, ...scope, ...overrides, ...(findings.length > 0 && { findings }) },
      expected_response: { type: "TestPlan", required_fields: ["status", "errors"] },
    });
    const { plan, errors } = plannedSchema.parse(payload);
    if (plan) return this.overridden(plan);
    const byDocument = this.plannedByDocument();
    if (byDocument)
      this.order.progress(`${errors[0]?.message ?? ""} The API is tested by its document alone.`);
    else this.report.errors.push(...errors.map(({ code, message }) => ({ code, message })));
    return byDocument;
  }

  /** An API's document says what to test, also where no model plans. */
  private plannedByDocument(): TestPlan | undefined {
    const { goal, overrides } = this.order;
    if (overrides.openapi === undefined) return undefined;
    const strategy = "Every operation of the API's document, by generated tests.";
    return this.overridden(planSchema.parse({ goal, strategy }));
  }

  private async planReview(plan: TestPlan): Promise<Review> {
    const { payload } = await this.send({
      ...{ message_type: "TestPlanReview", sender: "PlannerAgent", recipient: "CriticAgent" },
      ...{ intent: "Review the plan before it runs", payload: { plan } },
      ...{
        constraints: { grants: plan.grants, max_analysis_time: 30_000 },
        expected_response: reviewExpected,
      },
    });
    return reviewSchema.parse(payload);
  }

  /** Both executors work at the same time; each is reviewed, and what can be repeated is. */
  private async execute(plan: TestPlan): Promise<void> {
    const requests = requestsOf(plan);
    const ends = await Promise.allSettled(requests.map((request) => this.part(plan, request)));
    this.report.parts = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
  }

  private async part(plan: TestPlan, request: MessageDraft): Promise<QaPart> {
    const layer = request.message_type.startsWith("Web") ? "Web" : "API";
    let result = executionResultSchema.parse((await this.send(request)).payload);
    let review = await this.critique(plan, layer, result);
    for (let round = 1; round <= mostRounds && !this.order.signal.aborted; round++) {
      const next = repetitionOf(request, { result, review });
      if (!next) break;
      this.order.progress(
        `${layer}: ${next.why.map(({ flag }) => flag).join(", ")}: running ${next.ids.length} again`,
      );
      const second = executionResultSchema.parse((await this.send(next.request)).payload);
      const merged = merge(result, second);
      const changed = changesIn(result, merged);
      const score = review.quality_score;
      result = merged;
      review = await this.critique(plan, layer, result);
      this.noteRound(round, "executor", next.why, [
        ...changed,
        `quality score ${score} to ${review.quality_score}`,
      ]);
      if (changed.length === 0) break;
    }
    return { layer, result, review };
  }

  private async critique(plan: TestPlan, layer: string, result: ExecutionResult): Promise<Review> {
    const { environment, release, known_issues, dependent_services } = plan;
    const { status, metrics, results, artifacts, errors } = result;
    const { payload } = await this.send({
      ...{
        message_type: "TestExecutionResultReview",
        sender: `${layer}ExecutorAgent`,
        recipient: "CriticAgent",
      },
      intent: "Evaluate the results for quality, coverage and risk",
      payload: {
        ...{ summary: { status, metrics }, test_cases: results, logs_and_artifacts: artifacts },
        environment_metadata: { environment, release, dependent_services },
        ...{ failure_severity_hints: errors, aims: aimsOf(plan, layer) },
      },
      context: { test_layer: layer, release, known_issues },
      constraints: { max_analysis_time: 30_000, grants: plan.grants },
      expected_response: reviewExpected,
    });
    const review = reviewSchema.parse(payload);
    this.order.progress(
      `${layer}: ${status}, quality score ${review.quality_score}, ${review.severity_level}`,
    );
    return review;
  }

  private noteRound(
    round: number,
    to: "planner" | "executor",
    why: readonly RiskFlag[],
    changed: string[],
  ): void {
    this.report.rounds.push({
      round,
      to,
      why: why.map(({ flag, message }) => `${flag}: ${message}`),
      changed,
    });
  }

  private concluded(): QaReport {
    const { report, order } = this;
    const { parts } = report;
    const reviews = [
      ...parts.map(({ review }) => review),
      ...(report.plan_review ? [report.plan_review] : []),
    ];
    const levels = reviews.map(({ severity_level }) => severity_level);
    const isOver = report.errors.some(({ code }) => code === "BUDGET_EXCEEDED");
    const isBlocked = parts.length === 0 && report.errors.length > 0;
    const status = worstOf([
      ...(isBlocked ? ["BLOCKED" as const] : parts.map(({ result }) => result.status)),
      ...(isOver ? ["BUDGET_EXCEEDED" as const] : []),
      ...(order.signal.aborted ? ["CANCELLED" as const] : []),
    ]);
    return {
      ...{ ...report, status },
      quality_score: parts.length === 0 ? 0 : Math.min(...parts.map(({ review }) => review.quality_score)),
      severity_level: levels.includes("blocker")
        ? "blocker"
        : levels.includes("warning")
          ? "warning"
          : "info",
    };
  }
}

const reviewExpected = {
  type: "CriticReview",
  required_fields: ["quality_score", "risk_flags", "recommendations", "feedback_target", "severity_level"],
};

/** Findings against a plan that make its run worthless. */
const mustNotRun: ReadonlySet<string> = new Set([
  "PLAN_INVALID",
  "POLICY_DENIED",
  "COST_EXPLOSION",
  "OUTDATED_ASSUMPTION",
]);

/** A plan with a circle has no order. */
const safeView = (plan: TestPlan) =>
  viewOf({ ...plan, cases: plan.cases.map((one) => ({ ...one, depends_on: [] })) });

/** What the cases of an executor set out to check. A risk that no case of the plan checks is the plan's, not a result's. */
function aimsOf({ risks, requirements, cases, endpoints, not_covered }: TestPlan, layer: string) {
  const own = cases.filter(({ executor }) => (executor === "web") === (layer === "Web"));
  const covered = new Set([...own, ...(layer === "API" ? endpoints : [])].flatMap(({ covers }) => covers));
  const isLeft = (id: string) => not_covered.some((one) => one.id === id);
  return [
    ...risks.map(({ id, level }) => ({ id, isCritical: level === "high" })),
    ...requirements.map((id) => ({ id, isCritical: false })),
  ].filter(({ id }) => covered.has(id) && !isLeft(id));
}

const scenarios = z.looseObject({ test_scenarios: z.array(scenarioSchema) });

/** The same request with only the cases that a repetition may change; undefined when there are none. */
function repetitionOf(request: MessageDraft, { result, review }: Pick<QaPart, "result" | "review">) {
  const why = review.risk_flags.filter(({ flag, target }) => target === "executor" && repeatable.has(flag));
  const named = new Set(why.flatMap(({ cases }) => cases));
  const isWorth = result.errors.every(({ code }) => code !== "POLICY_DENIED" && code !== "BROWSER_MISSING");
  if (!isWorth || result.status === "TIMEOUT" || result.status === "BUDGET_EXCEEDED") return undefined;
  const { test_scenarios } = scenarios.parse({ test_scenarios: [], ...request.payload });
  const left = result.results
    .filter(({ status, flaky }) => again.has(status) || flaky)
    .map((one) => one.case);
  const kept = test_scenarios.filter(({ id }) => named.has(id) && left.includes(id));
  const { max_execution_time: ms, max_cost: usd, ...rest } = request.constraints ?? {};
  const { duration_ms, cost_usd } = result.metrics;
  const constraints = {
    ...rest,
    ...(ms !== undefined && { max_execution_time: ms - duration_ms }),
    ...(usd !== undefined && { max_cost: usd - cost_usd }),
  };
  const isSpent = Object.values(constraints).some((left) => typeof left === "number" && left < 0);
  if (kept.length === 0 || isSpent) return undefined;
  const payload = { ...request.payload, test_scenarios: kept, endpoints: undefined, openapi_spec: undefined };
  return { why, ids: kept.map(({ id }) => id), request: { ...request, payload, constraints } };
}

const keyOf = (one: { case: string; browser?: string | undefined }) => `${one.case} ${one.browser ?? ""}`;

/** The newer end of each case in place of the older. */
function merge(before: ExecutionResult, after: ExecutionResult): ExecutionResult {
  const newer = new Map(after.results.map((one) => [keyOf(one), one]));
  const results = before.results.map((one) => {
    const repeated = newer.get(keyOf(one));
    // A flaky case that passes once more is flaky still.
    return repeated ? { ...repeated, flaky: repeated.flaky || one.flaky } : one;
  });
  const repeated = new Set(after.results.map((one) => one.case));
  const sum = (key: "retries" | "duration_ms" | "cost_usd") => before.metrics[key] + after.metrics[key];
  return {
    results,
    status: worstOf(results.map(({ status }) => status)),
    artifacts: [...before.artifacts.filter((one) => !repeated.has(one.case)), ...after.artifacts],
    errors: [...before.errors.filter((one) => !repeated.has(one.case)), ...after.errors],
    metrics: {
      ...before.metrics,
      passed: results.filter(({ status }) => status === "PASSED").length,
      checks: results.reduce((all, { verified_count }) => all + verified_count, 0),
      ...{ retries: sum("retries"), duration_ms: sum("duration_ms"), cost_usd: sum("cost_usd") },
    },
  };
}

function changesIn(before: ExecutionResult, after: ExecutionResult): string[] {
  return before.results.flatMap((one, at) => {
    const now = after.results[at];
    return now && now.status !== one.status ? [`${one.case}: ${one.status} to ${now.status}`] : [];
  });
}
