import { z } from "zod";
import { callTyped, ifFailed } from "../../mcp/calls.ts";
import type { CaseError, ExecutionResult } from "../../messages/contents.ts";
import { worstOf } from "../../messages/status.ts";
import type { ExecutorDeps, Job } from "../executor.ts";
import { Budget } from "./budget.ts";
import { type CaseEnd, type CaseRun, ended, runCase } from "./runCase.ts";

const reportSchema = z.object({ report: z.string() });
const reportMs = 120_000;

/** Runs cases one after the other within the message's constraints. What is left when a limit is crossed is NOT_RUN. */
export async function runCases(
  runs: readonly (CaseRun | CaseEnd)[],
  { message, signal, progress }: Job,
  deps: ExecutorDeps,
): Promise<ExecutionResult> {
  const budget = new Budget(message.constraints, deps.clock);
  const ends: CaseEnd[] = [];
  for (const [at, run] of runs.entries()) {
    const end = "result" in run ? run : await runCase(run, { toolbox: deps.toolbox, budget, signal });
    const { result, errors } = end;
    const place = result.browser === undefined ? "" : ` on ${result.browser}`;
    const why = errors[0] ? `: ${errors[0].code}` : "";
    progress(`[${at + 1}/${runs.length}] ${result.status} ${result.case}${place}${why}`);
    ends.push(end);
  }
  const result = resultOf(ends, budget);
  return { ...result, artifacts: [...result.artifacts, ...(await reportOf(ends, deps))] };
}

/** BLOCKED for one reason, with every case NOT_RUN. */
export function noneRun(
  runs: readonly Pick<CaseRun, "scenario" | "browser">[],
  error: CaseError,
): ExecutionResult {
  const ends = runs.map((run) => ended(run, "NOT_RUN"));
  return { ...resultOf(ends), status: "BLOCKED", errors: [error] };
}

/** The status is that of the worst case or of the limit that was crossed. Same ends, same result. */
export function resultOf(
  ends: readonly CaseEnd[],
  budget?: Pick<Budget, "crossed" | "usedMs" | "costUsd">,
): ExecutionResult {
  const results = ends.map(({ result }) => result);
  const ran = results.filter(({ execution_id }) => execution_id !== undefined);
  const times = ran.map(({ duration_ms }) => duration_ms).sort((a, b) => a - b);
  const percentile = (share: number) => times[Math.ceil(share * times.length) - 1];
  return {
    status: worstOf([...results.map(({ status }) => status), ...(budget?.crossed ? [budget.crossed] : [])]),
    results,
    artifacts: ends.flatMap(({ result, evidence }) =>
      evidence.map((uri) => ({ case: result.case, kind: "evidence", uri })),
    ),
    errors: ends.flatMap(({ errors }) => errors),
    metrics: {
      ...countsOf(results),
      retries: results.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0),
      duration_ms: budget?.usedMs ?? 0,
      cost_usd: budget?.costUsd ?? 0,
      ...(ran.length > 0 && { p50_ms: percentile(0.5), p95_ms: percentile(0.95) }),
    },
  };
}

export const countsOf = (results: ExecutionResult["results"]) => ({
  cases: results.length,
  passed: results.filter(({ status }) => status === "PASSED").length,
  checks: results.reduce((sum, { verified_count }) => sum + verified_count, 0),
});

/** One report of all runs. A run is worth no less because its report could not be written. */
async function reportOf(ends: readonly CaseEnd[], { toolbox }: ExecutorDeps) {
  const execution_id = ends.flatMap(({ result }) => result.execution_id ?? []).slice(0, 500);
  if (execution_id.length === 0) return [];
  const use = { name: "get_execution_report", input: { execution_id, format: "html" } };
  return callTyped(toolbox, use, reportSchema, AbortSignal.timeout(reportMs)).then(
    ({ report }) => [{ case: "*", kind: "report", uri: report }],
    ifFailed(() => []),
  );
}
