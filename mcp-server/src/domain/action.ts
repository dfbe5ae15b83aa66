import { z } from "zod";
import { durationMs, paramsSchema } from "./common.ts";

/** A controller's kind, or `verification` for any that judges. */
export const actionTypeSchema = z
  .string()
  .regex(/^[a-z][\w-]{0,62}$/, "must be the kind or the driver of a controller, or verification");

export const actionSchema = z.strictObject({
  command: z.string().min(1).max(80),
  action_type: actionTypeSchema.optional(),
  params: paramsSchema.default({}),
  iterator: z.int().min(1).max(100).optional(),
  continue_on_fail: z.boolean().optional(),
  /** A pause after the action that the user asked for; nothing waits otherwise. */
  wait_ms: durationMs(60_000).optional(),
});
export type Action = z.output<typeof actionSchema>;

export const actionBatchSchema = z.strictObject({
  actions: z.array(actionSchema).min(1).max(100),
  retry_actions: z.array(actionSchema).max(100).default([]),
  failure_actions: z.array(actionSchema).max(100).default([]),
});
export type ActionBatch = z.output<typeof actionBatchSchema>;

/** A check to make: `command` names one of the device's checks. Polled until it holds or `timeout_ms` is over. */
export const verificationSchema = z.strictObject({
  command: z.string().min(1).max(80),
  type: actionTypeSchema.optional(),
  params: paramsSchema.default({}),
  negate: z.boolean().optional(),
  timeout_ms: durationMs(600_000).optional(),
});
export type Verification = z.output<typeof verificationSchema>;

export const passConditionSchema = z.enum(["all", "any"]);

const rectSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** `pass` takes `negate` into account; `expected` and `actual` are one line each. An `inconclusive` check could not be judged. */
export const verdictSchema = z.object({
  command: z.string(),
  pass: z.boolean(),
  expected: z.string(),
  actual: z.string(),
  attempts: z.int(),
  elapsed_ms: z.int(),
  nearest: z.array(z.string()),
  /** Artifact URIs. */
  evidence: z.array(z.string()),
  error: z.string().optional(),
  inconclusive: z.string().optional(),
  /** How like the screen is to what is expected, 0..1. */
  score: z.number().optional(),
  /** Where it was seen, in pixels of the first picture of `evidence`, else of the screen. */
  area: rectSchema.optional(),
});
export type Verdict = z.output<typeof verdictSchema>;

export const dispatchedSchema = z.enum(["no", "yes", "unknown"]);

/** Why something failed. `expected`, `found` and `nearest` belong to a check, `command` to one command that failed. */
export const failureSchema = z.object({
  code: z.string(),
  message: z.string(),
  command: z.string().optional(),
  expected: z.string().optional(),
  found: z.string().optional(),
  nearest: z.array(z.string()).optional(),
  /** Whether the input of the command that failed reached the device; absent where none was due. */
  dispatched: dispatchedSchema.optional(),
  /** How many commands of the same batch or navigation were done before it. */
  steps_before: z.int().optional(),
});
export type Failure = z.output<typeof failureSchema>;
