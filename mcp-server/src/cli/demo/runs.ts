import { z } from "zod";
import type { Host } from "./host.ts";
import type { Verdict } from "./verdicts.ts";

export const leaseSchema = z.object({ session_id: z.string(), device: z.string(), model: z.string() });
export const runSchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  duration_ms: z.number().default(0),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  failed_step: z.looseObject({ label: z.string() }).optional(),
});
export const anything = z.looseObject({});

export type DemoRun = { session: string; userinterface: string; implementation: string; testcase: string };

/** Runs a test case to its end. */
export async function runTestcase(host: Host, demoRun: DemoRun): Promise<Verdict> {
  const { session, userinterface, implementation, testcase } = demoRun;
  const request = { testcase, userinterface_name: userinterface, session_id: session };
  let run = await host.call("execute_testcase", request, runSchema);
  while (run.status === "running" || run.status === "queued") {
    run = await host.call("execute_testcase", { testcase, execution_id: run.execution_id }, runSchema);
  }
  return {
    implementation,
    testcase,
    executionId: run.execution_id,
    status: run.status,
    durationMs: run.duration_ms,
    found: [run.failed_step?.label, run.reason?.message].filter(Boolean).join(": "),
  };
}
