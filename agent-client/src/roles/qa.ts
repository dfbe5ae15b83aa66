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
import { countsOf } from "./executors/runCases.ts";
import { coverageOf, idsOf, planSchema, requestsOf, type TestPlan, viewOf } from "./plan.ts";

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
type QaPart = { layer: string; result: ExecutionResult; review: Review };

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

const withCost = z.looseObject({ cost_usd: z.number().default(0) });
const plannedSchema = z.object({
  plan: planSchema.optional(),
  errors: z.array(z.object({ code: z.string(), message: z.string() })).default([]),
});

/** A goal to its report: plan, review of the plan, execution, critique. Findings go back at most `mostRounds` times. */
export const runQa = (order: QaOrder, deps: { desk: Desk; clock: Clock }): Promise<QaReport> =>
  new QaRun(order, deps).run();

class QaRun {
  private readonly report: QaReport;

  constructor(
    private readonly order: QaOrder,
    private readonly deps: { desk: Desk; clock: Clock },
  ) {
    this.report = {
      ...{ correlation_id: randomUUID(), goal: order.goal, status: "NOT_RUN", quality_score: 0 },
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

  private async send(draft: MessageDraft): Promise<Envelope["payload"]> {
    const { order, report } = this;
    const { desk, clock } = this.deps;
    const { correlation_id } = report;
    const message = newMessage({ ...draft, correlation_id }, { clock, newId: randomUUID });
    // What was cancelled is reviewed all the same.
    const isLast = draft.recipient === "CriticAgent" && order.signal.aborted;
    const signal = isLast ? AbortSignal.timeout(lastMs) : order.signal;
    // As it goes over a wire.
    const { payload } = await desk.deliver(JSON.parse(JSON.stringify(message)), { ...order, signal });
    report.cost_usd += withCost.parse(payload).cost_usd;
    return payload;
  }

  private async reviewed(draft: Omit<MessageDraft, "recipient">, { grants }: TestPlan): Promise<Review> {
    const payload = await this.send({
      ...{ ...draft, recipient: "CriticAgent", constraints: { grants, max_analysis_time: 30_000 } },
      expected_response: { type: "CriticReview", required_fields: reviewFields },
    });
    return reviewSchema.parse(payload);
  }

  /** The plan that runs; undefined when there is none, or its findings are such that it must not. */
  private async reviewedPlan(): Promise<TestPlan | undefined> {
    const { order, report } = this;
    let plan = order.plan ? withOverrides(order.plan, order.overrides) : await this.planned([]);
    for (let round = 1; plan; round++) {
      const draft = { message_type: "TestPlanReview", sender: "PlannerAgent", payload: { plan } };
      const review = await this.reviewed({ ...draft, intent: "Review the plan before it runs" }, plan);
      report.plan_review = review;
      const bad = review.risk_flags.filter(({ severity }) => severity === "blocker");
      for (const { flag, message } of bad) order.progress(`plan: ${flag}: ${message}`);
      if (bad.length === 0 || order.plan || round > mostRounds) return this.approved(plan, bad);
      plan = await this.planned(bad);
      const changed = [`replanned; the plan's score was ${review.quality_score}`];
      if (plan) report.rounds.push({ round, to: "planner", why: bad.map(inWords), changed });
    }
    return undefined;
  }

  /** A plan whose findings remain runs, unless they make its run worthless. */
  private approved(plan: TestPlan, bad: readonly RiskFlag[]): TestPlan | undefined {
    const fatal = bad.filter(({ flag }) => mustNotRun.has(flag));
    this.report.errors.push(...fatal.map(({ flag: code, message }) => ({ code, message })));
    this.report.plan = viewOf(plan);
    return fatal.length > 0 ? undefined : plan;
  }

  private async planned(findings: readonly RiskFlag[]): Promise<TestPlan | undefined> {
    const { goal, scope, overrides, progress } = this.order;
    progress(findings.length > 0 ? "planning again" : "planning");
    const payload = await this.send({
      ...{ message_type: "QaPlanRequest", sender: "QaClient", recipient: "PlannerAgent" },
      intent: goal.slice(0, 1_000),
      payload: { goal, ...scope, ...overrides, ...(findings.length > 0 && { findings }) },
      expected_response: { type: "TestPlan", required_fields: ["status", "errors"] },
    });
    const { plan, errors } = plannedSchema.parse(payload);
    if (plan) return withOverrides(plan, overrides);
    if (overrides.openapi === undefined) {
      this.report.errors.push(...errors);
      return undefined;
    }
    // An API's document says what to test, also where no model plans.
    progress(`${errors[0]?.message ?? ""} The API is tested by its document alone.`);
    const strategy = "Every operation of the API's document, by generated tests.";
    return withOverrides(planSchema.parse({ goal, strategy }), overrides);
  }

  /** Both executors work at the same time; each is reviewed, and what can be repeated is. */
  private async execute(plan: TestPlan): Promise<void> {
    const ends = await Promise.allSettled(requestsOf(plan).map((one) => this.part(plan, one)));
    this.report.parts = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
  }

  private async part(plan: TestPlan, { executor, request }: Request): Promise<QaPart> {
    const { progress, signal } = this.order;
    const layer = executor === "web" ? "Web" : "API";
    let result = executionResultSchema.parse(await this.send(request));
    let review = await this.critique(plan, executor, result);
    for (let round = 1; round <= mostRounds && !signal.aborted; round++) {
      const next = repetitionOf(plan, request, { result, review });
      if (!next) break;
      progress(`${layer}: ${next.why.map(({ flag }) => flag).join(", ")}: running ${next.count} again`);
      const merged = merge(result, executionResultSchema.parse(await this.send(next.request)));
      const changed = changesIn(result, merged);
      const score = review.quality_score;
      result = merged;
      review = await this.critique(plan, executor, result);
      const scores = `quality score ${score} to ${review.quality_score}`;
      const why = next.why.map(inWords);
      this.report.rounds.push({ round, to: "executor", why, changed: [...changed, scores] });
      if (changed.length === 0) break;
    }
    return { layer, result, review };
  }

  private async critique(plan: TestPlan, executor: "web" | "api", result: ExecutionResult): Promise<Review> {
    const { environment, release, known_issues, dependent_services } = plan;
    const { status, metrics, results, artifacts, errors } = result;
    const layer = executor === "web" ? "Web" : "API";
    const draft = {
      ...{ message_type: "TestExecutionResultReview", sender: `${layer}ExecutorAgent` },
      intent: "Evaluate the results for quality, coverage and risk",
      payload: {
        ...{ summary: { status, metrics }, test_cases: results, logs_and_artifacts: artifacts },
        environment_metadata: { environment, release, dependent_services },
        ...{ failure_severity_hints: errors, aims: aimsOf(plan, executor) },
      },
      context: { test_layer: layer, release, known_issues },
    };
    const review = await this.reviewed(draft, plan);
    const { quality_score, severity_level } = review;
    this.order.progress(`${layer}: ${status}, quality score ${quality_score}, ${severity_level}`);
    return review;
  }

  private concluded(): QaReport {
    const { report, order } = this;
    const { parts, errors, plan_review } = report;
    const reviews = [...parts.map(({ review }) => review), ...(plan_review ? [plan_review] : [])];
    const levels = reviews.map(({ severity_level }) => severity_level);
    const status: StatusCode[] = [
      ...(parts.length === 0 && errors.length > 0 ? ["BLOCKED" as const] : []),
      ...parts.map(({ result }) => result.status),
      ...(errors.some(({ code }) => code === "BUDGET_EXCEEDED") ? ["BUDGET_EXCEEDED" as const] : []),
      ...(order.signal.aborted ? ["CANCELLED" as const] : []),
    ];
    return {
      ...{ ...report, status: worstOf(status) },
      quality_score: parts.length === 0 ? 0 : Math.min(...parts.map(({ review }) => review.quality_score)),
      severity_level: (["blocker", "warning"] as const).find((level) => levels.includes(level)) ?? "info",
    };
  }
}

type Request = ReturnType<typeof requestsOf>[number];
const reviewFields = [
  ...["quality_score", "risk_flags", "recommendations", "feedback_target", "severity_level"],
];
const inWords = ({ flag, message }: RiskFlag) => `${flag}: ${message}`;

const withOverrides = (plan: TestPlan, { budget, ...rest }: QaOrder["overrides"]): TestPlan => ({
  ...{ ...plan, ...rest, budget: { ...plan.budget, ...budget } },
});

/** Findings against a plan that make its run worthless. */
const mustNotRun: ReadonlySet<string> = new Set([
  "PLAN_INVALID",
  "POLICY_DENIED",
  "COST_EXPLOSION",
  "OUTDATED_ASSUMPTION",
]);

/** What the cases of an executor set out to check. A risk that no case of the plan checks is the plan's, not a result's. */
function aimsOf(plan: TestPlan, executor: "web" | "api") {
  const own = idsOf(plan, executor);
  const coverage = coverageOf(plan);
  const isAim = (id: string) =>
    coverage[id]?.some((one) => own.includes(one)) && !plan.not_covered.some((one) => one.id === id);
  return [
    ...plan.risks.map(({ id, level }) => ({ id, isCritical: level === "high" })),
    ...plan.requirements.map((id) => ({ id, isCritical: false })),
  ].filter(({ id }) => isAim(id));
}

const scenarios = z.object({ test_scenarios: z.array(scenarioSchema) });

/** The same request with only the cases that a repetition may change; undefined when there are none. */
function repetitionOf(
  { budget: { max_execution_time, max_cost } }: TestPlan,
  request: MessageDraft,
  { result: { results, errors, status, metrics }, review }: Pick<QaPart, "result" | "review">,
) {
  const isWorth = errors.every(({ code }) => code !== "POLICY_DENIED" && code !== "BROWSER_MISSING");
  if (!isWorth || status === "TIMEOUT" || status === "BUDGET_EXCEEDED") return undefined;
  const again = new Set(results.filter(mayChange).map((one) => one.case));
  const kept = scenarios.parse(request.payload).test_scenarios.filter(({ id }) => again.has(id));
  const why = review.risk_flags.filter(
    (one) => one.target === "executor" && one.cases.some((id) => again.has(id)),
  );
  const constraints = {
    ...request.constraints,
    max_execution_time: max_execution_time - metrics.duration_ms,
    ...(max_cost !== undefined && { max_cost: max_cost - metrics.cost_usd }),
  };
  if (kept.length === 0 || constraints.max_execution_time < 1 || (constraints.max_cost ?? 0) < 0)
    return undefined;
  const payload = { ...request.payload, test_scenarios: kept, endpoints: undefined, openapi_spec: undefined };
  return { why, count: kept.length, request: { ...request, payload, constraints } };
}

const mayChange = ({ status, flaky }: ExecutionResult["results"][number]) =>
  flaky || status === "ERROR" || status === "BLOCKED" || status === "NOT_RUN";

/** The newer end of each case in place of the older. */
function merge(before: ExecutionResult, after: ExecutionResult): ExecutionResult {
  const results = before.results.map((one) => {
    const newer = after.results.find((other) => other.case === one.case && other.browser === one.browser);
    // A flaky case that passes once more is flaky still.
    return newer ? { ...newer, flaky: newer.flaky || one.flaky } : one;
  });
  const isOld = (one: { case: string }) => after.results.every((newer) => newer.case !== one.case);
  const sum = (key: "retries" | "duration_ms" | "cost_usd") => before.metrics[key] + after.metrics[key];
  return {
    results,
    status: worstOf(results.map(({ status }) => status)),
    artifacts: [...before.artifacts.filter(isOld), ...after.artifacts],
    errors: [...before.errors.filter(isOld), ...after.errors],
    metrics: {
      ...{ ...before.metrics, ...countsOf(results) },
      ...{ retries: sum("retries"), duration_ms: sum("duration_ms"), cost_usd: sum("cost_usd") },
    },
  };
}

const changesIn = (before: ExecutionResult, after: ExecutionResult): string[] =>
  before.results.flatMap((one, at) => {
    const now = after.results[at]?.status;
    return now === one.status ? [] : [`${one.case}: ${one.status} to ${now}`];
  });
