import { z } from "zod";
import { executionStatusSchema, paramsSchema, reportFormats } from "../domain/index.ts";
import { maxTokensField } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const executionId = { execution_id: z.string().min(1) };
const reason = z.object({ code: z.string(), message: z.string() }).optional();

export const getExecutionStatus = defineTool({
  name: "get_execution_status",
  title: "Look at a run",
  description: "Where a run stands: its verdict and steps so far, failed ones first when not all fit",
  domain: "executions",
  capabilities: ["EXECUTION_CONTROL"],
  effect: "read",
  timeoutMs: 660_000,
  input: z.strictObject({
    ...executionId,
    wait_ms: z.int().min(0).max(600_000).default(0).describe("Wait for its end at most so long"),
    ...maxTokensField(2_000),
  }),
  output: z.object({
    execution_id: z.string(),
    kind: z.string(),
    name: z.string(),
    status: executionStatusSchema,
    reason,
    device: z.string(),
    userinterface: z.string().optional(),
    started_at: z.string(),
    duration_ms: z.int().optional(),
    verified_count: z.int(),
    outputs: paramsSchema.optional(),
    steps: z.array(
      z.object({
        n: z.int(),
        step: z.string(),
        status: z.string(),
        duration_ms: z.int(),
        error: z.string().optional(),
      }),
    ),
    more: z.int().optional().describe("Steps not shown"),
  }),
  async handle({ input, services, context }) {
    const { execution_id: id, wait_ms: waitMs, max_tokens: maxTokens } = input;
    return services.reports.status(id, { waitMs, maxTokens }, context);
  },
});

export const cancelExecution = defineTool({
  name: "cancel_execution",
  title: "Stop a run",
  description: "Stop a run and its device; returns how it ended",
  domain: "executions",
  capabilities: ["EXECUTION_CONTROL"],
  effect: "write",
  idempotent: true,
  timeoutMs: 60_000,
  input: z.strictObject(executionId),
  output: z.object({ execution_id: z.string(), status: executionStatusSchema, reason }),
  async handle({ input, services, context }) {
    const { id, status, reason: why } = await services.executions.cancel(input.execution_id, context.client);
    return { execution_id: id, status, ...(why && { reason: why }) };
  },
});

export const getExecutionReport = defineTool({
  name: "get_execution_report",
  title: "Get a report",
  description: "A report file of runs: html (one self-contained page with pictures), junit XML or ctrf JSON",
  domain: "executions",
  capabilities: ["REPORTING"],
  effect: "read",
  timeoutMs: 120_000,
  input: z.strictObject({
    execution_id: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(500)])
      .describe("One, or several in one report"),
    format: z.enum(reportFormats).default("html"),
  }),
  output: z.object({
    report: z.string().describe("Artifact URI"),
    bytes: z.int(),
    tests: z.int(),
    passed: z.int(),
    failed: z.int(),
    errors: z.int(),
    other: z.int(),
    duration_ms: z.int(),
  }),
  async handle({ input, services, attach }) {
    const ids = [input.execution_id].flat();
    const { artifact, summary } = await services.reports.create(ids, input.format);
    const { uri, mime_type: mimeType, bytes } = artifact;
    attach({ kind: "link", uri, name: `report.${input.format}`, mimeType });
    return { report: uri, bytes, ...summary };
  },
});
