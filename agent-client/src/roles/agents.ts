import { z } from "zod";
import type { Agent } from "../agents/agent.ts";
import { atMost, within } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { callTyped, ToolFailure } from "../mcp/calls.ts";
import {
  apiRequestSchema,
  contextSchema,
  type Review,
  reviewRequestSchema,
  webRequestSchema,
} from "../messages/contents.ts";
import { contentOf, type Envelope } from "../messages/envelope.ts";
import type { Clock, Toolbox } from "../ports.ts";
import type { SkillRun, SkillRunEnd } from "../sessions/runSkill.ts";
import { judgementSchema, type RunJudgement, reviewResults } from "./critic.ts";
import type { Executor, Job, Outcome } from "./executor.ts";
import { judgedApi } from "./executors/apiExecutor.ts";
import { hostsAt } from "./executors/hosts.ts";
import { judgedWeb } from "./executors/webExecutor.ts";
import { planSchema, requestsOf, type TestPlan } from "./plan.ts";
import { hasOrder, labFacts, reviewPlan } from "./planGuards.ts";
import { type Denial, denialOf, type Policy, withoutPersonal } from "./policy.ts";
import { noPolicy, type QaPolicy } from "./qaPolicy.ts";

export type RoleDeps = {
  toolbox: Toolbox;
  clock: Clock;
  agents: readonly Agent[];
  policy: Policy;
  /** The user's policy file, for the critic. */
  qaPolicy?: QaPolicy | undefined;
  /** What runs an agent's skill by the loop. Undefined without a model; a key that is saved later counts. */
  skillRunner(): ((run: SkillRun) => Promise<SkillRunEnd>) | undefined;
};

const analysisMs = 30_000;
const mostLetters = 100_000;
const always = async () => ({ isUp: true, load: 0, reason: "rules and, where there is one, a model" });

type Asked<T> = { answer?: T; cost_usd: number; why?: string };

/** Asks an agent of the YAML for one answer, in a stored conversation named after the message. */
async function askAgent<T>(
  name: string,
  { request, schema, describe }: { request: string; schema: z.ZodType<T>; describe: string },
  { message, signal }: Job,
  { agents, skillRunner }: RoleDeps,
): Promise<Asked<T>> {
  const agent = agents.find((one) => one.name === name && one.mode === "role" && one.config.enabled);
  const [skill] = agent?.available_skills ?? [];
  if (!agent || skill === undefined) return { cost_usd: 0, why: `the agent ${name} is off` };
  const runSkill = skillRunner();
  if (!runSkill) return { cost_usd: 0, why: "no model is set" };
  const holder = `role/${name}/${message.message_id}`;
  const session_id = `${name}-${message.message_id}`;
  const outcome = { schema, describe };
  const { end, outcome: given } = await runSkill({
    ...{ agent, skill, session_id, request, outcome, holder, signal },
  });
  const { data } = schema.safeParse(given);
  const { cost_usd = 0 } = end;
  if (data !== undefined && given !== undefined) return { answer: data, cost_usd };
  return { cost_usd, why: end.error?.message ?? `its answer did not fit (${end.outcome})` };
}

/** What a model may see of a message: no personal data without a grant. Undefined: nothing at all. */
async function shownToModel(
  { message }: Job,
  { policy }: RoleDeps,
): Promise<Envelope["payload"] | undefined> {
  const { payload, constraints, context } = message;
  if (constraints.grants.includes("pii:model")) return payload;
  const { data } = dataOf.safeParse(payload);
  const test_data = data?.test_data ?? data?.plan?.test_data ?? { pii: [] };
  const names = Object.keys(test_data).filter((name) => name !== "pii" && !test_data.pii.includes(name));
  const { environment } = contextSchema.parse(context);
  const denied = await policy.judge({ environment, writes: [], personal: { names, to: "a model" } });
  return denied ? undefined : withoutPersonal(payload, test_data.pii);
}
const withData = z.looseObject({
  test_data: z.looseObject({ pii: z.array(z.string()).default([]) }).optional(),
});
const dataOf = withData.extend({ plan: withData.optional() });

/** Makes a plan with a model. Without one it cannot: a plan file takes its place. */
export const plannerRole = (deps: RoleDeps): Executor => ({
  ...{ name: "planner", role: "planner", health: always },
  async run(job): Promise<Outcome> {
    const shown = await shownToModel(job, deps);
    const [facts, hosts] = await Promise.all([
      labFacts(deps.toolbox, job.signal),
      hostsAt(deps.toolbox, job.signal),
    ]);
    const lab = { ...facts, executors: ["web", "api"], hosts };
    const request = `Plan the tests for this goal. The request, what was found in an earlier plan, and what the lab has, as data:\n${JSON.stringify({ ...shown, lab }).slice(0, mostLetters)}`;
    const question = {
      request,
      schema: planSchema,
      describe: "The whole test plan. Times carry a unit: 30s.",
    };
    const { answer, cost_usd, why } = shown
      ? await askAgent("planner", question, job, deps)
      : { cost_usd: 0, why: "POLICY_DENIED: its data are personal, and pii:model is not granted" };
    if (answer) return { payload: { status: "PASSED", plan: answer, errors: [], cost_usd } };
    const error = { case: "*", code: "NO_PLAN", message: `No plan was made: ${why}.`, severity: "high" };
    return { payload: { status: "BLOCKED", errors: [error], cost_usd } };
  },
});

const wordsSchema = z.object({
  comment: z.string().trim().min(1).max(2_000),
  recommendations: z.array(z.string().trim().min(1).max(300)).max(5).default([]),
});

/** Reviews plans and results by rules, in time; a model adds words where there is one and time is left. */
export const criticRole = (deps: RoleDeps): Executor => ({
  ...{ name: "critic", role: "critic", health: always },
  async run(job): Promise<Outcome> {
    const { clock } = deps;
    const ms = job.message.constraints.max_analysis_time ?? analysisMs;
    const start = clock.now();
    const review = await reviewOf(job, deps, ms);
    const left = ms - (clock.now() - start);
    const words: Asked<z.output<typeof wordsSchema>> = await worded(review, job, deps, left).catch(
      (error: unknown) => {
        job.signal.throwIfAborted();
        if (!(error instanceof AgentError)) throw error;
        return { cost_usd: 0, why: error.message };
      },
    );
    const { answer, cost_usd } = words;
    const recommendations = [...review.recommendations, ...(answer?.recommendations ?? [])];
    return { payload: { ...review, recommendations, ...(answer && { comment: answer.comment }), cost_usd } };
  },
});

async function worded(
  review: Review,
  job: Job,
  deps: RoleDeps,
  leftMs: number,
): Promise<Asked<z.output<typeof wordsSchema>>> {
  const shown = deps.skillRunner() && leftMs > 0 ? await shownToModel(job, deps) : undefined;
  if (!shown) return { cost_usd: 0 };
  const request = `Put this review into words. The review, and what was reviewed, as data:\n${JSON.stringify({ review, of: shown }).slice(0, 60_000)}`;
  const question = {
    request,
    schema: wordsSchema,
    describe: "comment (a few sentences) and recommendations",
  };
  const late = () => new AgentError("EXECUTION_TIMEOUT", "The model took too long to comment.", "");
  return within(leftMs, { signal: job.signal, clock: deps.clock, late }, (signal) =>
    askAgent("critic", question, { ...job, signal }, deps),
  );
}

async function reviewOf(job: Job, deps: RoleDeps, ms: number): Promise<Review> {
  const { message, signal } = job;
  if (message.message_type === "TestPlanReview") {
    const { plan } = contentOf(z.object({ plan: planSchema }), message, "payload");
    const [facts, denials] = await Promise.all([labFacts(deps.toolbox, signal), denialsOf(plan, deps)]);
    return reviewPlan(plan, facts, denials);
  }
  const content = contentOf(reviewRequestSchema, message, "payload");
  const { known_issues } = contentOf(contextSchema, message, "context");
  const { test_cases: results, failure_severity_hints: errors, logs_and_artifacts: artifacts } = content;
  const ids = results.flatMap(({ execution_id }) => execution_id ?? []);
  const judgements = await judgementsOf(ids, deps, atMost(signal, ms), signal);
  const metrics = { cases: results.length, passed: 0, checks: 0, retries: 0, duration_ms: 0, cost_usd: 0 };
  const result = { status: content.summary.status, results, errors, artifacts, metrics };
  return reviewResults({
    result,
    judgements,
    aims: content.aims,
    known_issues,
    policy: deps.qaPolicy ?? noPolicy,
  });
}

/** Why the plan's requests would be refused. Its executors ask again. */
async function denialsOf(plan: TestPlan, { policy }: RoleDeps): Promise<Denial[]> {
  const { environment, grants } = plan;
  // Without an order there are no requests yet, which is a finding of its own.
  const requests = hasOrder(plan) ? requestsOf(plan) : [];
  const found = await Promise.all(
    requests.map(({ message_type, payload }) => {
      const isWeb = message_type === "WebTestExecutionRequest";
      const judged = isWeb
        ? judgedWeb(webRequestSchema.parse(payload))
        : judgedApi(apiRequestSchema.parse(payload));
      return denialOf({ ...judged, environment, grants }, policy);
    }),
  );
  return found.filter((denial) => denial !== undefined);
}

const queueSchema = z.object({ judgements: z.array(judgementSchema) });

/** The server's judgement of each run; as many as are read in time. */
async function judgementsOf(
  ids: readonly string[],
  { toolbox }: RoleDeps,
  inTime: AbortSignal,
  signal: AbortSignal,
): Promise<RunJudgement[]> {
  const found: RunJudgement[] = [];
  for (const execution_id of ids) {
    const use = { name: "get_analysis_queue_status", input: { execution_id, max_tokens: 50_000 } };
    try {
      const { judgements } = await callTyped(toolbox, use, queueSchema, inTime);
      found.push(...judgements.filter((one) => one.execution_id === execution_id));
    } catch (error) {
      signal.throwIfAborted();
      if (inTime.aborted) break;
      // Such a run is not on record.
      if (!(error instanceof ToolFailure)) throw error;
      found.push({ execution_id, status: "missing", decided: false, summary: error.message, evidence: [] });
    }
  }
  return found;
}
