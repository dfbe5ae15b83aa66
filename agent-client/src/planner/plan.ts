import { z } from "zod";

/** The longest task; from seed 002. */
export const longestTask = 1_000;
const mostSteps = 100;

const stepIndex = z.int().min(1).max(mostSteps);

/**
 * One step, as the server's `domain/plan.ts` has it: with `command` it runs that command or check, with `tools` it needs
 * judgement, with neither `objective` is a sentence of the grammar of test cases.
 */
const planStepSchema = z.strictObject({
  index: stepIndex,
  objective: z.string().trim().min(1).max(500),
  command: z.string().min(1).max(80).optional(),
  action_type: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  negate: z.boolean().optional(),
  tools: z.array(z.string().min(1)).min(1).max(8).optional(),
  depends_on: z.array(stepIndex).max(mostSteps).default([]),
  reasoning: z.string().max(2_000).optional(),
  timeout_ms: z.int().min(0).max(600_000).optional(),
});
export type PlanStep = z.output<typeof planStepSchema>;

const complexitySchema = z.enum(["simple", "moderate", "complex"]);

/** What a task is planned as. `version` counts from 1 and grows with each replan. */
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
