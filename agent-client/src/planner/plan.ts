import { z } from "zod";

/** The longest task that a plan is made of; from seed 002. */
export const longestTask = 1_000;
const mostSteps = 100;

const stepIndex = z.int().min(1).max(mostSteps);

/**
 * One step of a plan. With `command`, it runs that command or check of the device, or `execute_navigation`. With `tools`, it
 * needs judgement: only an agent with a model can do it, with these tools and no other. With neither, `objective` is a
 * sentence that the grammar of test cases reads.
 */
export const planStepSchema = z.strictObject({
  index: stepIndex,
  /** No longer than the words of a test case's step. */
  objective: z.string().trim().min(1).max(400),
  command: z.string().min(1).max(80).optional(),
  /** The kind or driver of the controller that has the command. */
  action_type: z
    .string()
    .regex(/^[a-z][\w-]{0,62}$/, "must be the kind or the driver of a controller, or verification")
    .optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  /** The opposite of a check. */
  negate: z.boolean().optional(),
  tools: z.array(z.string().min(1)).min(1).max(8).optional(),
  depends_on: z.array(stepIndex).max(mostSteps).default([]),
  reasoning: z.string().max(2_000).optional(),
  timeout_ms: z.int().min(0).max(600_000).optional(),
});
export type PlanStep = z.output<typeof planStepSchema>;

/** The device that a step drives; undefined for the plan's own. */
export const deviceOf = ({ params }: Pick<PlanStep, "params">): string | undefined =>
  typeof params?.device_id === "string" ? params.device_id : undefined;

const complexitySchema = z.enum(["simple", "moderate", "complex"]);
type Complexity = z.output<typeof complexitySchema>;

/** An unsaved test case. `version` counts from 1 and grows with each replan. */
export const planSchema = z.strictObject({
  task: z.string().trim().min(1).max(longestTask),
  version: z.int().min(1).default(1),
  complexity: complexitySchema.optional(),
  estimated_duration_ms: z.int().min(0).optional(),
  feasible: z.boolean().default(true),
  analysis: z.string().max(4_000).default(""),
  steps: z.array(planStepSchema).max(mostSteps),
});
export type Plan = z.output<typeof planSchema>;

/** A task is as complex as it has parts: steps, or the clauses of its words. */
export function complexityOf(parts: number): Complexity {
  if (parts <= 2) return "simple";
  return parts <= 6 ? "moderate" : "complex";
}

/** Each step after those it depends on, otherwise as given. `waiting` are steps that can never begin. */
export function inOrder(steps: readonly PlanStep[]): { ordered: PlanStep[]; waiting: PlanStep[] } {
  const ordered: PlanStep[] = [];
  const waiting = [...steps];
  const isDone = (on: number) => ordered.some(({ index }) => index === on);
  for (;;) {
    const at = waiting.findIndex(({ depends_on }) => depends_on.every(isDone));
    if (at < 0) return { ordered, waiting };
    ordered.push(...waiting.splice(at, 1));
  }
}

/** `{{step1.output}}`, `$step_1`, `${steps[1]}` and the like. */
const outputName = /(?:\{\{?|\$\{?)\s*steps?\W?_?\d/i;

/**
 * What is wrong with the indices and dependencies, a line each. A command is sent as the plan says it, so it cannot name what
 * another step returns.
 */
export function orderProblems(steps: readonly PlanStep[]): string[] {
  const naming = steps.filter(({ tools, params }) => !tools && outputName.test(JSON.stringify(params ?? {})));
  if (naming.length > 0)
    return naming.map(
      ({ index }) =>
        `step ${index} names what another step returns; a step with tools that depends on it is given that`,
    );
  const indices = new Set(steps.map(({ index }) => index));
  const missing = steps.flatMap(({ index, depends_on }) =>
    depends_on
      .filter((on) => !indices.has(on))
      .map((on) => `step ${index} depends on step ${on}, which is not there`),
  );
  if (indices.size < steps.length) return ["two steps have the same index", ...missing];
  if (missing.length > 0) return missing;
  const waiting = inOrder(steps).waiting.map(({ index }) => index);
  return waiting.length > 0 ? [`steps ${waiting.join(", ")} wait for each other`] : [];
}
