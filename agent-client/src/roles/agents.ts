import { z } from "zod";
import type { Agent } from "../agents/agent.ts";
import { atMost, within } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { callTyped, ToolFailure } from "../mcp/calls.ts";
import { contextSchema, type Review, reviewRequestSchema } from "../messages/contents.ts";
import { contentOf, type Envelope } from "../messages/envelope.ts";
import type { SkillRun, SkillRunEnd } from "../sessions/runSkill.ts";
import { judgementSchema, type QaPolicy, type RunJudgement, reviewResults } from "./critic.ts";
import type { Executor, ExecutorDeps, Job, Outcome } from "./executor.ts";
import { hostsAt } from "./executors/places.ts";
import { works } from "./executors/work.ts";
import { planSchema, requestsOf, type TestPlan } from "./plan.ts";
import { labFacts, reviewPlan } from "./planGuards.ts";
import { type Denial, denialOf, testDataIn, withoutPersonal } from "./policy.ts";

export type RoleDeps = ExecutorDeps & {
  agents: readonly Agent[];
  /** The user's policy file, for the critic. */
  qaPolicy?: QaPolicy | undefined;
  /** What runs an agent's skill by the loop. Undefined without a model; a key that is saved later counts. */
  skillRunner(): ((run: SkillRun) => Promise<SkillRunEnd>) | undefined;
};

const analysisMs = 30_000;
const always = async () => ({ isUp: true, load: 0, reason: "rules and, where there is one, a model" });

type Question<T> = { request: string; schema: z.ZodType<T>; describe: string };
type Answered<T> = { answer?: T; cost_usd: number; why?: string };

/** Asks an agent of the YAML for one answer, in a stored conversation named after the message. */
async function askAgent<T>(
  name: string,
  { request, schema, describe }: Question<T>,
  { message, signal }: Job,
  { agents, skillRunner }: RoleDeps,
): Promise<Answered<T>> {
  const agent = agents.find((one) => one.name === name && one.mode === "role" && one.config.enabled);
  const [skill] = agent?.available_skills ?? [];
  if (!agent || skill === undefined) return { cost_usd: 0, why: `the agent ${name} is off` };
  const runSkill = skillRunner();
  if (!runSkill) return { cost_usd: 0, why: "no model is set" };
  const { end, outcome } = await runSkill({
    ...{ agent, skill, request, signal, outcome: { schema, describe } },
    ...{ holder: `role/${name}/${message.message_id}`, session_id: `${name}-${message.message_id}` },
  });
  const { data } = schema.safeParse(outcome);
  const { cost_usd = 0 } = end;
  if (data !== undefined) return { answer: data, cost_usd };
  return { cost_usd, why: end.error?.message ?? `its answer did not fit (${end.outcome})` };
}

/** What a model may see of a message: no personal data without a grant. Undefined: nothing at all. */
async function shownToModel(
  { message }: Job,
  { policy }: RoleDeps,
): Promise<Envelope["payload"] | undefined> {
  const { payload, constraints, context } = message;
  if (constraints.grants.includes("pii:model")) return payload;
  const { pii, ...data } = testDataIn(payload);
  const names = Object.keys(data).filter((name) => !pii.includes(name));
  const { environment } = contextSchema.parse(context);
  const denied = await policy.judge({ environment, writes: [], personal: { names, to: "a model" } });
  return denied ? undefined : withoutPersonal(payload, pii);
}

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
    const question = {
      request: `Plan the tests for this goal. The request, what was found in an earlier plan, and what the lab has, as data:\n${JSON.stringify({ ...shown, lab }).slice(0, 100_000)}`,
      ...{ schema: planSchema, describe: "The whole test plan. Times carry a unit: 30s." },
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
type Words = Answered<z.output<typeof wordsSchema>>;

/** Reviews plans and results by rules, in time; a model adds words where there is one and time is left. */
export const criticRole = (deps: RoleDeps): Executor => ({
  ...{ name: "critic", role: "critic", health: always },
  async run(job): Promise<Outcome> {
    const end = deps.clock.now() + (job.message.constraints.max_analysis_time ?? analysisMs);
    const review = await reviewOf(job, deps, end - deps.clock.now());
    const { answer, cost_usd } = await wordsOn(review, job, deps, end - deps.clock.now());
    const recommendations = [...review.recommendations, ...(answer?.recommendations ?? [])];
    return { payload: { ...review, recommendations, ...(answer && { comment: answer.comment }), cost_usd } };
  },
});

async function wordsOn(review: Review, job: Job, deps: RoleDeps, leftMs: number): Promise<Words> {
  const shown = deps.skillRunner() && leftMs > 0 ? await shownToModel(job, deps) : undefined;
  if (!shown) return { cost_usd: 0 };
  const question = {
    request: `Put this review into words. The review, and what was reviewed, as data:\n${JSON.stringify({ review, of: shown }).slice(0, 60_000)}`,
    ...{ schema: wordsSchema, describe: "comment (a few sentences) and recommendations" },
  };
  const late = () => new AgentError("EXECUTION_TIMEOUT", "The model took too long to comment.", "");
  const ask = (signal: AbortSignal) => askAgent("critic", question, { ...job, signal }, deps);
  try {
    return await within(leftMs, { signal: job.signal, clock: deps.clock, late }, ask);
  } catch (error) {
    job.signal.throwIfAborted();
    if (error instanceof AgentError) return { cost_usd: 0 };
    throw error;
  }
}

async function reviewOf({ message, signal }: Job, deps: RoleDeps, ms: number): Promise<Review> {
  if (message.message_type === "TestPlanReview") {
    const { plan } = contentOf(z.object({ plan: planSchema }), message, "payload");
    const [facts, denials] = await Promise.all([labFacts(deps.toolbox, signal), denialsOf(plan, deps)]);
    return reviewPlan(plan, facts, denials);
  }
  const { known_issues } = contentOf(contextSchema, message, "context");
  const content = contentOf(reviewRequestSchema, message, "payload");
  const { test_cases: results, failure_severity_hints: errors, logs_and_artifacts: artifacts } = content;
  const ids = results.flatMap(({ execution_id }) => execution_id ?? []);
  return reviewResults({
    result: { status: content.summary.status, results, errors, artifacts },
    judgements: await judgementsOf(ids, deps, atMost(signal, ms), signal),
    ...{ aims: content.aims, known_issues, policy: deps.qaPolicy },
  });
}

/** Why the plan's requests would be refused. Its executors ask again. */
async function denialsOf(plan: TestPlan, { policy }: RoleDeps): Promise<Denial[]> {
  const { environment, grants } = plan;
  const denials = requestsOf(plan).map(({ executor, request }) => {
    // What does not fit is a finding of its own.
    const { data } = works[executor].safeParse(request.payload);
    return data && denialOf({ ...data, environment, grants }, policy);
  });
  return (await Promise.all(denials)).filter((denial) => denial !== undefined);
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
      found.push({ execution_id, status: "missing", decided: false, summary: error.message });
    }
  }
  return found;
}
