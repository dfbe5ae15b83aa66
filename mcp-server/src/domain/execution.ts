import { z } from "zod";
import { dispatchedSchema } from "./action.ts";
import { paramsSchema } from "./common.ts";

export const executionKindSchema = z.enum([
  "actions",
  "navigation",
  "testcase",
  "script",
  "validation",
  "plan",
  "api",
  "investigation",
]);
export type ExecutionKind = z.output<typeof executionKindSchema>;

/** `queued` and `running` are open; the rest are final. `error` means that the run could not be judged. */
export const executionStatusSchema = z.enum([
  "queued",
  "running",
  "passed",
  "failed",
  "error",
  "cancelled",
  "timeout",
]);
export type ExecutionStatus = z.output<typeof executionStatusSchema>;
export type FinalStatus = Exclude<ExecutionStatus, "queued" | "running">;

/**
 * What the app logged and requested from the action before a failed step on, oldest first; of too much, faults before others. The app and
 * its servers wrote the texts; credentials are masked. `ms` is absent while a request was under way.
 */
export const activitySchema = z.object({
  console: z.array(
    z.object({ at: z.string(), level: z.string(), text: z.string(), place: z.string().optional() }),
  ),
  requests: z.array(
    z.object({
      at: z.string(),
      method: z.string(),
      url: z.string(),
      type: z.string(),
      status: z.int().optional(),
      failure: z.string().optional(),
      ms: z.int().optional(),
      mocked: z.literal(true).optional(),
      sent: z.string().optional(),
      answer: z.string().optional(),
    }),
  ),
});
export type StepActivity = z.output<typeof activitySchema>;

/** One step as it happened. `input` is recorded before secrets are filled in. */
export const stepSchema = z.object({
  index: z.int(),
  /** Block path for test cases, such as `loop1[2]/check`; empty for other kinds. */
  path: z.string(),
  kind: z.string(),
  label: z.string(),
  status: z.enum(["passed", "failed", "error", "cancelled", "timeout", "skipped"]),
  started_at: z.string(),
  duration_ms: z.int(),
  input: z.unknown(),
  output: z.unknown(),
  error: z
    .object({ code: z.string(), message: z.string(), dispatched: dispatchedSchema.optional() })
    .optional(),
  artifacts: z.array(z.object({ kind: z.string(), uri: z.string(), mime_type: z.string() })),
  /** What the device did by itself: dialogs, downloads, page errors, tabs, denied addresses, restarts. One line each. */
  notices: z.array(z.string()).optional(),
  activity: activitySchema.optional(),
});
export type Step = z.output<typeof stepSchema>;

/** One try of a run that may be retried. */
export const attemptSchema = z.object({
  id: z.string(),
  status: z.enum(["passed", "failed", "error", "cancelled", "timeout"]),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  duration_ms: z.int(),
});
export type Attempt = z.output<typeof attemptSchema>;

export const executionSchema = z.object({
  id: z.string(),
  kind: executionKindSchema,
  name: z.string(),
  status: executionStatusSchema,
  /** A code such as NOTHING_VERIFIED or INTERRUPTED, and a sentence. */
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  started_at: z.string(),
  finished_at: z.string().optional(),
  duration_ms: z.int().optional(),
  host_name: z.string(),
  device: z.string().optional(),
  device_model: z.string().optional(),
  device_version: z.string().optional(),
  /** Where a device cloud shows the session, with its video. */
  session_url: z
    .string()
    .regex(/^https:\/\//)
    .optional(),
  environment: z.string().optional(),
  release: z.string().optional(),
  build: z.string().optional(),
  userinterface: z.string().optional(),
  triggered_by: z.string(),
  correlation_id: z.string(),
  /** Checks and verified navigations that were really made. */
  verified_count: z.int(),
  outputs: z.record(z.string(), z.unknown()),
  input: z.unknown().optional(),
  /** The tries of a run that was retried, in order; the last decides. */
  attempts: z.array(attemptSchema).optional(),
  flaky: z.boolean().optional(),
  /** How the start differed from the last run of this test on this build, if that run ended otherwise. */
  rerun: z.string().optional(),
});
export type Execution = z.output<typeof executionSchema> & {
  project?: string;
};

/** A run as one of its test's history. */
export const runMarkSchema = executionSchema
  .pick({ status: true, started_at: true, duration_ms: true, flaky: true })
  .extend({ execution_id: z.string() });
export type RunMark = z.output<typeof runMarkSchema>;

/** A page for people, and the files that CI systems and test managers read. */
export const reportFormats = ["html", "junit", "ctrf"] as const;
export type ReportFormat = (typeof reportFormats)[number];
export const reportFiles = {
  html: "report.html",
  junit: "junit.xml",
  ctrf: "ctrf.json",
} as const satisfies Record<ReportFormat, string>;
/** The steps whose pictures a page shows: those that did not pass, or all. */
export const pictureChoices = ["failed", "all"] as const;
export type PictureChoice = (typeof pictureChoices)[number];

/** What an execution of a script keeps besides its steps. */
export const scriptResultSchema = z.object({
  script: z.string(),
  status: z.string(),
  exit_code: z.int().optional(),
  message: z.string().optional(),
  outputs: paramsSchema,
  log_tail: z.string().optional(),
  /** URI of all that it said. */
  log: z.string().optional(),
  verified_count: z.int(),
});
export type ScriptResult = z.output<typeof scriptResultSchema>;
