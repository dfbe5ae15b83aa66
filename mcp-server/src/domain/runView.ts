import { z } from "zod";
import { verdictSchema } from "./action.ts";
import { executionKindSchema, executionStatusSchema, stepSchema } from "./execution.ts";

const pictureSchema = z.object({
  uri: z.string(),
  caption: z.string().describe("Such as before, after, judged."),
  href: z.string().optional().describe("A short-lived address, relative to the server."),
});

const stepViewSchema = z.object({
  ...stepSchema.pick({ index: true, path: true, kind: true, label: true, status: true }).shape,
  ...stepSchema.pick({ started_at: true, duration_ms: true, error: true, notices: true }).shape,
  /** As JSON, cut at 4,000 characters. */
  input: z.string().optional(),
  output: z.string().optional(),
  finding: z
    .object({ expected: z.string(), found: z.string(), nearest: z.array(z.string()) })
    .optional()
    .describe("Of a check that did not hold."),
  /** In pixels of the first picture. */
  area: verdictSchema.shape.area,
  pictures: z.array(pictureSchema),
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
  doing: z.string().optional().describe("What it does now, while it runs."),
  steps: z.array(stepViewSchema).describe("In their order."),
  total: z.int().describe("Steps so far."),
  more: z.int().describe("Steps behind those shown."),
});
export type RunView = z.output<typeof runViewSchema>;
