import { z } from "zod";
import { within } from "../clock.ts";
import { AgentError, type AgentErrorCode, agentErrorStatus } from "../errors.ts";
import { objectIn } from "../loop/history.ts";
import { callTyped, ToolFailure } from "../mcp/calls.ts";
import { isRefusedRequest } from "../model/failure.ts";
import type { ModelEndpoint, ModelSource } from "../model/models.ts";
import { askOnce, littleThinking, maxUnstreamed } from "../model/request.ts";
import type { Clock, Toolbox, ToolSpec } from "../ports.ts";
import { recoveryOf, withBackoff } from "../recovery.ts";
import { analyzeTask, type TaskAnalysis } from "./analyze.ts";
import { answerFormat, planIn } from "./answers.ts";
import { problemsIn } from "./check.ts";
import { type Plan, planSchema } from "./plan.ts";
import {
  type Before,
  deviceContextSchema,
  type Material,
  type PlanTemplate,
  questionOf,
  systemOf,
} from "./prompt.ts";

export type PlannerDeps = {
  toolbox: Toolbox;
  models: Pick<ModelSource, "current" | "router">;
  clock: Clock;
};

export type PlanRequest = {
  task: string;
  context?: Readonly<Record<string, unknown>> | undefined;
  userinterface_name?: string | undefined;
  device_ids: readonly string[];
  template: PlanTemplate;
  /** Of one attempt of one model. */
  timeout_ms: number;
  version: number;
  /** Only for a replan. */
  before?: Before | undefined;
  signal: AbortSignal;
};

/** `devices`: the only ones that the plan may drive, the first where a step names none. Empty: the server's own choice. */
export type Planned = { plan: Plan; devices: readonly string[] };

/** From seed 004: so many are shown. */
const mostTools = 20;
const maxProblems = 10;

/**
 * Plans a task: by the server's grammar where that reads all of it, else by the models in order, each asked once more when
 * its answer is not a plan. Throws PLANNING_FAILED, PLANNING_TIMEOUT, or why no model answered.
 */
export async function planTask(request: PlanRequest, deps: PlannerDeps): Promise<Planned> {
  const read = request.before ? undefined : await byGrammar(request, deps);
  if (read?.feasible) return { plan: read, devices: request.device_ids };
  const models = deps.models.current();
  if (models.length === 0) throw notPlanned([read?.analysis || "no model is set"]);
  const material = await gather(request, deps);
  let last: unknown;
  for (const endpoint of models) {
    try {
      return await byModel(endpoint, material, request, deps);
    } catch (error) {
      request.signal.throwIfAborted();
      last = error;
    }
  }
  throw last;
}

const readSchema = z.object({ plan: planSchema });

/** Undefined without an app: the grammar is about what an app has. */
async function byGrammar(
  { task, userinterface_name, device_ids, signal }: PlanRequest,
  { toolbox }: PlannerDeps,
): Promise<Plan | undefined> {
  if (userinterface_name === undefined) return undefined;
  const [device_id] = device_ids;
  const input = { task, userinterface_name, run: false, ...(device_id !== undefined && { device_id }) };
  const { plan } = await callTyped(toolbox, { name: "execute_plan", input }, readSchema, signal).catch(
    asAgentError,
  );
  return plan;
}

type Gathered = Material & { specs: readonly ToolSpec[]; analysis: TaskAnalysis };

async function gather(request: PlanRequest, { toolbox, models }: PlannerDeps): Promise<Gathered> {
  const { task, context, userinterface_name, device_ids, before, signal } = request;
  const [specs, analysis, devices] = await Promise.all([
    toolbox.specs(),
    analyzeTask(task, models.router(), signal),
    contextsOf({ userinterface_name, device_ids, looks: before !== undefined }, toolbox, signal),
  ]);
  const fits = specs.filter(({ capabilities = [] }) =>
    capabilities.some((one) => analysis.capabilities.includes(one)),
  );
  const tools = (fits.length > 0 ? fits : specs).slice(0, mostTools);
  return { ...{ task, context, userinterface_name, before, devices, specs, analysis }, tools };
}

/** `looks`: where each device is is read from its screen. One whose screen cannot be read keeps its tracked place. */
async function contextsOf(
  {
    userinterface_name,
    device_ids,
    looks,
  }: Pick<PlanRequest, "userinterface_name" | "device_ids"> & { looks: boolean },
  toolbox: Toolbox,
  signal: AbortSignal,
) {
  if (userinterface_name === undefined) return [];
  const refs = device_ids.length > 0 ? device_ids.map((device_id) => ({ device_id })) : [{}];
  for (const ref of looks ? refs : []) {
    const input = { userinterface_name, ...ref, identify: true };
    await toolbox.call({ name: "get_current_position", input }, { signal });
  }
  const use = { name: "get_task_context", input: { userinterface_name, device_ids } };
  const schema = z.object({ contexts: z.array(deviceContextSchema) });
  return (await callTyped(toolbox, use, schema, signal).catch(asAgentError)).contexts;
}

/** One model's plan. An attempt that is late or no plan is followed by one more, for a simpler plan. */
async function byModel(
  endpoint: ModelEndpoint,
  material: Gathered,
  request: PlanRequest,
  { clock }: PlannerDeps,
): Promise<Planned> {
  const { signal, timeout_ms, device_ids } = request;
  const shown = material.devices.map(({ device_id }) => device_id);
  const devices = shown.length > 0 ? shown : device_ids;
  const tools = new Set(material.specs.map(({ name }) => name));
  const asking = { template: request.template, question: questionOf(material) };
  let isStructured = endpoint.facts.structured_output;
  const answer = (problems: readonly string[], stop: AbortSignal) =>
    answerOf(endpoint, { ...asking, problems, isStructured }, stop);
  const attempt = async (problems: readonly string[]): Promise<Plan> => {
    const ask = (stop: AbortSignal) =>
      withBackoff(
        () =>
          answer(problems, stop).catch((error: unknown) => {
            if (!isStructured || !isRefusedRequest(error)) throw error;
            // An endpoint that does not take the output format: the answer's form is said in words, from now on.
            isStructured = false;
            return answer(problems, stop);
          }),
        clock,
        stop,
      );
    const said = await within(
      timeout_ms,
      { signal, clock, late: () => tooLate(endpoint.model, timeout_ms) },
      ask,
    );
    const object = objectIn(said);
    if (object === undefined) throw unusable("WEAK_MODEL", ["there is no whole JSON object in it"]);
    const found = planIn(object, request.task, request.version);
    if ("problems" in found) throw unusable("INVALID_PLAN", found.problems);
    const problemsFound = problemsIn(found.plan, {
      ...{ tools, devices },
      hasApp: request.userinterface_name !== undefined,
    });
    if (problemsFound.length > 0) throw unusable("INVALID_PLAN", problemsFound);
    return { complexity: material.analysis.complexity, ...found.plan };
  };
  let problems: readonly string[] = [];
  for (let retry = 0; ; retry++) {
    try {
      return { plan: await attempt(problems), devices };
    } catch (error) {
      problems = problemsToMend(error, retry, endpoint.model);
    }
  }
}

/** What the next attempt must mend. Throws where there is none. */
function problemsToMend(error: unknown, retry: number, model: string): readonly string[] {
  if (!(error instanceof AgentError)) throw error;
  const problems = z.array(z.string()).catch([error.message]).parse(error.details.problems);
  const recovery = recoveryOf(error.code);
  if (recovery?.strategy === "simplify" && retry < recovery.retries) return problems;
  const isNoPlan = error.code === "WEAK_MODEL" || error.code === "INVALID_PLAN";
  throw isNoPlan ? notPlanned(problems, model) : error;
}

const unusable = (code: "WEAK_MODEL" | "INVALID_PLAN", problems: readonly string[]) =>
  new AgentError(code, problems.join("; "), "", { problems });

type Asking = {
  template: PlanTemplate;
  question: string;
  problems: readonly string[];
  isStructured: boolean;
};

async function answerOf(
  endpoint: ModelEndpoint,
  { template, question, problems, isStructured }: Asking,
  signal: AbortSignal,
): Promise<string> {
  const { max_tokens: _, output_config, ...thinking } = littleThinking(endpoint);
  const again =
    problems.length === 0
      ? ""
      : `\n\nYour last answer cannot be used: ${problems.slice(0, maxProblems).join("; ")}. Give a whole plan, and a simpler one: at most 10 steps, only what the task needs.`;
  const body = {
    ...thinking,
    max_tokens: Math.min(maxUnstreamed, endpoint.facts.output_tokens ?? maxUnstreamed),
    system: systemOf(template, isStructured),
    messages: [{ role: "user" as const, content: question + again }],
    ...((output_config || isStructured) && {
      output_config: { ...output_config, ...(isStructured && { format: answerFormat }) },
    }),
  };
  return (await askOnce(endpoint, body, signal)).text;
}

const isAgentCode = (code: string): code is AgentErrorCode => Object.hasOwn(agentErrorStatus, code);

/** A failure of the server while a task is planned. */
function asAgentError(error: unknown): never {
  if (!(error instanceof ToolFailure)) throw error;
  const { code, message, hint } = error;
  if (isAgentCode(code)) throw new AgentError(code, message, hint);
  throw new AgentError("PLANNING_FAILED", `${code}: ${message}`, hint, { code });
}

const tooLate = (model: string, ms: number) =>
  new AgentError(
    "PLANNING_TIMEOUT",
    `${model} gave no plan within ${ms / 1_000} s.`,
    "Say the task in fewer steps, or name a faster model in agents.models.",
  );

const notPlanned = (problems: readonly string[], model?: string) =>
  new AgentError(
    "PLANNING_FAILED",
    `The task cannot be planned${model ? ` by ${model}` : ""}: ${problems.slice(0, maxProblems).join("; ")}.`,
    model
      ? "Say the task in other words, or name a further model in agents.models."
      : "Say it as steps such as: go to Home and then check that Live is shown. With a model (ANTHROPIC_API_KEY), other words are understood too.",
    { problems },
  );
