import { z } from "zod";
import { actionTypeSchema } from "./action.ts";
import { durationMs, paramsSchema } from "./common.ts";
import { longestWords } from "./testcase.ts";

/** The longest task that a plan is made of; from seed 002. */
export const longestTask = 1_000;
const mostSteps = 100;

export const complexitySchema = z.enum(["simple", "moderate", "complex"]);

const stepIndex = z.int().min(1).max(mostSteps);

/**
 * One step of a plan. With `command`, it runs that command or check of the device, or `execute_navigation`. With `tools`, it
 * needs judgement: only an agent with a model can do it, with these tools and no other. With neither, `objective` is a
 * sentence that the grammar of test cases reads.
 */
export const planStepSchema = z.strictObject({
  index: stepIndex,
  objective: z.string().trim().min(1).max(longestWords),
  command: z.string().min(1).max(80).optional(),
  action_type: actionTypeSchema.optional(),
  params: paramsSchema.optional(),
  /** The opposite of a check. */
  negate: z.boolean().optional(),
  tools: z.array(z.string().min(1)).min(1).max(8).optional(),
  depends_on: z.array(stepIndex).max(mostSteps).default([]),
  reasoning: z.string().max(2_000).optional(),
  timeout_ms: durationMs(600_000).optional(),
});
export type PlanStep = z.output<typeof planStepSchema>;

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
