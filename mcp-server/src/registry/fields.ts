import { z } from "zod";
import {
  apiTestResultSchema,
  attemptSchema,
  dispatchedSchema,
  type ExecutionStatus,
  executionStatusSchema,
  paramsSchema,
  reportFiles,
} from "../domain/index.ts";
import type { Call } from "./tool.ts";

const text = z.string().optional();
const reason = z.object({ code: z.string(), message: z.string() }).optional();

/** What every tool that starts a run says of it. */
export const runFields = {
  execution_id: z.string(),
  status: executionStatusSchema,
  reason,
  duration_ms: z.int().optional(),
};

/** Without it, a call that would overwrite what is stored ends in ALREADY_EXISTS. */
export const replaceField = { replace: z.boolean().default(false) };

/** Where a run of a test case stands. */
export const stageFields = {
  next_step: z.object({ number: z.int(), step: z.string() }).optional(),
  doing: text.describe("The step that runs now"),
};

/** What runs say of their ends: the tools that start them, and get_execution_status. */
export const testcaseEnd = {
  rows: z
    .object({
      total: z.int(),
      passed: z.int(),
      not_passed: z.array(
        z.object({ row: z.string(), status: z.string(), execution_id: z.string(), reason }),
      ),
      more: z.int().optional(),
    })
    .optional(),
  flaky: z.boolean().optional(),
  attempts: z.array(attemptSchema).optional(),
  rerun: text,
  notices: z.array(z.string()).optional(),
  verified_count: z.int().optional(),
  outputs: paramsSchema.optional(),
  failed_step: z
    .object({
      path: z.string(),
      label: z.string(),
      expected: text,
      found: text,
      nearest: z.array(z.string()).optional(),
      dispatched: dispatchedSchema.optional(),
      evidence: z.array(z.string()).optional(),
    })
    .optional(),
};

export const scriptEnd = {
  exit_code: z.int().optional(),
  message: text,
  outputs: paramsSchema.optional(),
  log_tail: text,
  verified_count: z.int().optional(),
};

export const batchEnd = {
  results: z
    .array(z.object({ command: z.string(), message: z.string(), data: paramsSchema.optional() }))
    .optional(),
  screen: text,
  lasting: z.array(z.record(z.string(), z.unknown())).optional(),
};

export const navigationEnd = {
  verified: z.boolean().optional().describe("The target's own checks held"),
  at: text,
  path: text,
  replans: z.int().optional(),
  expected_ms: z.int().optional(),
  confidence: z.number().optional(),
};

export const validationEnd = {
  passed: z.int().optional(),
  failed: z.int().optional(),
  unverified: z.int().optional().describe("Passed, but the target has no checks"),
  problems: z.array(z.string()).optional(),
};

export const apiEnd = {
  ...apiTestResultSchema.partial().shape,
  cut: z.record(z.string(), z.int()).optional().describe("Entries left out of lists"),
};

/** Links the report and the log of a script, once it has ended. */
export async function attachScriptFiles(
  {
    execution_id: id,
    status,
    log,
  }: { execution_id: string; status: ExecutionStatus; log?: string | undefined },
  { services, attach }: Pick<Call<unknown>, "services" | "attach">,
): Promise<void> {
  if (status === "queued" || status === "running") return;
  const { artifact } = await services.reports.create([id], "html");
  attach({ kind: "link", uri: artifact.uri, name: reportFiles.html, mimeType: artifact.mime_type });
  if (log !== undefined) attach({ kind: "link", uri: log, name: "log.txt", mimeType: "text/plain" });
}

/** Arguments that many tools share, so that one name means one thing everywhere. */
export const deviceFields = {
  device_id: z.string().min(1).optional(),
  session_id: z.string().min(1).optional().describe("Handle from take_control"),
};

/** How long a call waits for a run; hosts give up at 60 s. */
export const waitField = {
  wait_ms: z.int().min(0).max(600_000).default(45_000),
};

export const maxTokensField = (defaultTokens: number) => ({
  max_tokens: z.int().min(50).max(50_000).default(defaultTokens),
});

/** A page of a listing as its tool returns it: `more` stands only where something is left. */
export const paged = <Page extends { more: number }>({ more, ...page }: Page) => ({
  ...page,
  ...(more > 0 && { more }),
});
