import { z } from "zod";
import { readJson } from "../loop/history.ts";
import { longestTask, type Plan, planSchema } from "./plan.ts";

const optional = <T extends z.ZodType>(type: T) => type.nullish().transform((given) => given ?? undefined);
const text = optional(z.string());
/** Structured output has no free objects, so there they come as JSON in a text. */
const params = optional(
  z.preprocess(
    (given) => (typeof given === "string" ? readJson(given || "{}") : given),
    z.record(z.string(), z.unknown()),
  ),
);
const counts = optional(z.array(z.coerce.number().int().min(0)));
const shared = {
  command: text,
  action_type: text,
  params,
  negate: optional(z.boolean()),
  tools: optional(z.array(z.string())),
  reasoning: text,
  depends_on: counts,
  timeout_ms: optional(z.number()),
};
const head = { analysis: text, feasible: optional(z.boolean()) };

/** Seed 004: `{analysis, feasible, plan: [{step, command, params, description}]}`. */
const centralSchema = z.object({
  ...head,
  plan: z.array(z.object({ ...shared, step: optional(z.coerce.number().int()), description: text })),
});

/** Seed 002: an `AgentPlan`, or `{steps: [{step, objective, tools}]}`, with keys in snake case; times are in seconds. */
const agentSchema = z.object({
  ...head,
  complexity: optional(z.enum(["simple", "moderate", "complex"])),
  estimated_duration: optional(z.number()),
  step_dependencies: optional(z.record(z.string(), z.array(z.coerce.number().int()))),
  steps: z.array(
    z.object({
      ...shared,
      step: optional(z.coerce.number().int()),
      index: optional(z.coerce.number().int()),
      step_index: optional(z.coerce.number().int()),
      objective: text,
      tool_names: optional(z.array(z.string())),
      depends_on_steps: counts,
      timeout: optional(z.number()),
    }),
  ),
});

/** The plan in a model's answer, in either form, camel or snake case. Problems are a line each. */
export function planIn(
  answer: unknown,
  task: string,
  version: number,
): { plan: Plan } | { problems: string[] } {
  if (typeof answer !== "object" || answer === null) return { problems: ["it is not a JSON object"] };
  const given = snakeKeys(answer);
  const form = "plan" in given ? fromCentral : fromAgent;
  const mapped = form(given);
  if (!mapped.success) return { problems: problemsOf(mapped.error) };
  const parsed = planSchema.safeParse({ ...mapped.plan, task: task.slice(0, longestTask), version });
  return parsed.success ? { plan: parsed.data } : { problems: problemsOf(parsed.error) };
}

type Mapped = { success: true; plan: object } | { success: false; error: z.ZodError };

function fromCentral(given: object): Mapped {
  const { data, error } = centralSchema.safeParse(given);
  if (error) return { success: false, error };
  const steps = data.plan.map(({ step, description, depends_on, ...rest }, at) => ({
    ...stepOf(rest),
    index: step ?? at + 1,
    objective: description || rest.command || "(no description)",
    // The seed's steps run one after the other.
    depends_on: depends_on ?? (at === 0 ? [] : [data.plan[at - 1]?.step ?? at]),
  }));
  return { success: true, plan: { ...headOf(data), steps } };
}

function fromAgent(given: object): Mapped {
  const { data, error } = agentSchema.safeParse(given);
  if (error) return { success: false, error };
  const indexOf = ({ step, index, step_index }: (typeof data.steps)[number], at: number) =>
    index ?? step_index ?? step ?? at + 1;
  // An AgentPlan may count from 0.
  const shift = data.steps.some((step, at) => indexOf(step, at) === 0) ? 1 : 0;
  const steps = data.steps.map((step, at) => {
    const { objective, tool_names, depends_on_steps, timeout, depends_on, tools, timeout_ms } = step;
    const index = indexOf(step, at);
    const before = depends_on ?? depends_on_steps ?? data.step_dependencies?.[String(index)] ?? [];
    const limit = timeout_ms ?? (timeout === undefined ? undefined : timeout * 1_000);
    return {
      ...stepOf({ ...step, tools: tools ?? tool_names, timeout_ms: limit }),
      index: index + shift,
      objective: objective || step.command || "",
      depends_on: before.map((on) => on + shift),
    };
  });
  const { complexity, estimated_duration: seconds } = data;
  const estimated = seconds === undefined ? {} : { estimated_duration_ms: Math.round(seconds * 1_000) };
  return { success: true, plan: { ...headOf(data), ...(complexity && { complexity }), ...estimated, steps } };
}

const headOf = ({
  analysis = "",
  feasible = true,
}: {
  analysis?: string | undefined;
  feasible?: boolean | undefined;
}) => ({
  analysis: analysis.slice(0, 4_000),
  feasible,
});

type Shared = { [Key in Exclude<keyof typeof shared, "depends_on">]?: z.output<(typeof shared)[Key]> };

/** What is empty was left out. A command goes before tools: what a program can do needs no judgement. */
function stepOf({ command, action_type, params, negate, tools = [], reasoning, timeout_ms }: Shared) {
  return {
    ...(command && { command }),
    ...(action_type && { action_type }),
    ...(params && { params }),
    ...(negate && { negate }),
    ...(!command && tools.length > 0 && { tools: [...new Set(tools)] }),
    ...(reasoning && { reasoning: reasoning.slice(0, 2_000) }),
    ...(timeout_ms !== undefined && { timeout_ms: Math.round(timeout_ms) }),
  };
}

/** Keys of the answer, its steps and dependencies in snake case; those in `params` are the device's own. */
function snakeKeys(given: object): Record<string, unknown> {
  const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const renamed = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(key), inner]))
      : value;
  const entries = Object.entries(given).map(([key, value]) => [
    snake(key),
    Array.isArray(value) ? value.map(renamed) : value,
  ]);
  return Object.fromEntries(entries);
}

const problemsOf = (error: z.ZodError): string[] =>
  error.issues.slice(0, 10).map(({ path, message }) => `${path.join(".") || "the object"}: ${message}`);

const string = { type: "string" };
const closed = (properties: Record<string, object>, required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** The plan's schema as structured output takes it: closed objects, no bounds, `params` as JSON in a text. */
export const answerFormat = {
  type: "json_schema" as const,
  schema: closed(
    {
      analysis: string,
      feasible: { type: "boolean" },
      steps: {
        type: "array",
        items: closed(
          {
            index: { type: "integer" },
            objective: string,
            command: string,
            params: { ...string, description: "JSON object" },
            negate: { type: "boolean" },
            tools: { type: "array", items: string },
            depends_on: { type: "array", items: { type: "integer" } },
            reasoning: string,
          },
          ["index", "objective", "depends_on"],
        ),
      },
    },
    ["analysis", "feasible", "steps"],
  ),
};
