import { z } from "zod";
import { verdictSchema } from "./action.ts";
import { paramsSchema } from "./common.ts";
import { attemptSchema, executionKindSchema, executionStatusSchema, stepSchema } from "./execution.ts";

const pictureSchema = z.object({
  uri: z.string(),
  caption: z.string().describe("Such as before, after, judged."),
  href: z.string().optional().describe("A short-lived address, relative to the server."),
});

const fileSchema = pictureSchema.extend({ mime_type: z.string() });

const stepViewSchema = z.object({
  ...stepSchema.pick({ index: true, path: true, kind: true, label: true, status: true }).shape,
  ...stepSchema.pick({ started_at: true, duration_ms: true, error: true, notices: true }).shape,
  activity: stepSchema.shape.activity,
  /** As JSON, cut at 4,000 characters. */
  input: z.string().optional(),
  output: z.string().optional(),
  finding: z
    .object({
      ...{ expected: z.string(), found: z.string(), nearest: z.array(z.string()) },
      score: verdictSchema.shape.score,
    })
    .optional()
    .describe("Of a check that did not hold."),
  /** In pixels of the first picture. */
  area: verdictSchema.shape.area,
  pictures: z.array(pictureSchema),
  files: z.array(fileSchema).describe("Videos, traces, logs."),
});
export type StepView = z.output<typeof stepViewSchema>;

/** A run as people see it. Times are ISO 8601 UTC, durations ms. */
export const runViewSchema = z.object({
  id: z.string(),
  kind: executionKindSchema,
  name: z.string(),
  status: executionStatusSchema,
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  flaky: z.boolean().optional(),
  started_at: z.string(),
  duration_ms: z.int().optional(),
  facts: z
    .array(z.tuple([z.string(), z.string()]))
    .describe("Device, environment, build, inputs: name and value."),
  attempts: z.array(attemptSchema).optional().describe("Of a run that was retried; the last decides."),
  again: z
    .object({ tool: z.string(), args: paramsSchema })
    .or(z.object({ why: z.string() }))
    .describe("The call that runs it again with its inputs on its device, or why there is none."),
  doing: z.string().optional().describe("What it does now, while it runs."),
  recordings: z
    .array(fileSchema.extend({ from_s: z.number().describe("Its second at which the run began.") }))
    .describe("Videos and traces of its device that went on meanwhile and have ended; none while it runs."),
  steps: z.array(stepViewSchema).describe("In their order."),
  total: z.int().describe("Steps so far."),
  more: z.int().describe("Steps behind those shown."),
});
export type RunView = z.output<typeof runViewSchema>;

const differenceSchema = z.object({
  what: z.enum(["missing", "added", "renamed", "status", "found", "notices", "requests", "picture", "time"]),
  text: z.string(),
});
export type Difference = z.output<typeof differenceSchema>;

/** A run compared with the last good run of its test. */
export const comparisonSchema = z.object({
  good: z.object({ id: z.string(), started_at: z.string() }).optional().describe("Absent: there is none."),
  facts: z
    .array(z.tuple([z.string(), z.string(), z.string()]))
    .describe("Name, then, now: those that differ."),
  rows: z
    .array(
      z.object({
        good: stepViewSchema.optional(),
        now: stepViewSchema.optional(),
        differences: z.array(differenceSchema),
        alike: z.int().describe("Pairs without a difference right before this one."),
        first: z.literal(true).optional().describe("The first that differs in more than picture and time."),
      }),
    )
    .describe("Pairs of steps that differ, in their order; at most 200."),
  alike: z.int().describe("Pairs without a difference."),
  more: z.int().describe("Pairs that differ and are not in `rows`."),
});
export type Comparison = z.output<typeof comparisonSchema>;
