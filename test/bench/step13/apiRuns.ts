import { z } from "zod";
import { apiTestResultSchema } from "#mcp-server/domain/index.ts";
import type { StdioServer } from "../stdioServer.ts";

const resultSchema = apiTestResultSchema.partial().extend({
  execution_id: z.string(),
  status: z.string(),
  reason: z.looseObject({ message: z.string() }).optional(),
  findings: apiTestResultSchema.shape.findings.default([]),
  cut: z.record(z.string(), z.int()).default({}),
});
export type ApiRun = z.output<typeof resultSchema>;

/** One run of API tests to its end, however long it takes. */
export async function apiRun(host: StdioServer, args: Readonly<Record<string, unknown>>): Promise<ApiRun> {
  const waitMs = 50_000;
  const reply = await host.call("run_api_tests", { seed: 7, wait_ms: waitMs, ...args });
  let run = resultSchema.parse(reply.structured);
  while (["queued", "running"].includes(run.status)) {
    const asked = { execution_id: run.execution_id, wait_ms: waitMs, max_tokens: 100 };
    run = resultSchema.parse((await host.call("get_execution_status", asked)).structured);
  }
  return run;
}
