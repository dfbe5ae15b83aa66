import { z } from "zod";
import { labelSchema, paramsSchema } from "./common.ts";
import { executionStatusSchema } from "./execution.ts";

/** What happens to due times that were missed: nothing, or one run for all of them. */
export const missedPolicySchema = z.enum(["skip", "once"]);
export type MissedPolicy = z.output<typeof missedPolicySchema>;

/** `completed`: no due time will come again (dates or `max_executions` are over). */
export const deploymentStatusSchema = z.enum(["active", "paused", "completed"]);
export type DeploymentStatus = z.output<typeof deploymentStatusSchema>;

/** `queued` and `running` are open. `skipped` was never started; `error` with reason INTERRUPTED was cut off. */
export const deploymentRunStatusSchema = z.enum([...executionStatusSchema.options, "skipped"]);
export type DeploymentRunStatus = z.output<typeof deploymentRunStatusSchema>;

const written = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** A time as someone typed it, made ISO 8601 UTC; a date is its first moment. */
const instantSchema = z
  .string()
  .refine((text) => written.safeParse(text).success && /^[1-9]\d{3}-/.test(text), {
    error: "is not a time: give it as 2026-01-31T08:00:00Z",
    abort: true,
  })
  .transform((text) => new Date(text).toISOString());

/** A schedule that runs one test case or script on one device. Times are ISO 8601 UTC; `starts_at` and `ends_at` belong to it. */
export const deploymentSchema = z.strictObject({
  name: labelSchema,
  /** Exactly one of `testcase` and `script`, by name. */
  testcase: z.string().min(1).optional(),
  script: z.string().min(1).optional(),
  device_id: z.string().min(1),
  userinterface_name: z.string().min(1).optional(),
  inputs: paramsSchema.default({}),
  args: z.array(z.string().max(4_000)).max(50).default([]),
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron: z.string().min(1).max(120).optional(),
  /** Single due times, besides or instead of `cron`. */
  dates: z.array(instantSchema).max(200).default([]),
  /** IANA name, such as Europe/Paris; `cron` is read in it. */
  timezone: z.string().min(1).max(60).default("UTC"),
  starts_at: instantSchema.optional(),
  ends_at: instantSchema.optional(),
  max_executions: z.int().min(1).max(1_000_000).optional(),
  missed: missedPolicySchema.default("skip"),
  /** No build: that changes from run to run. */
  environment: z.string().min(1).max(120).optional(),
  release: z.string().min(1).max(120).optional(),
  timeout_ms: z.int().min(1_000).max(86_400_000).default(1_800_000),
});
export type DeploymentInput = z.output<typeof deploymentSchema>;
