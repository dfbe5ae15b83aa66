import { z } from "zod";
import { callTyped, ToolFailure } from "../../mcp/calls.ts";
import type { CaseError, CaseResult, Scenario } from "../../messages/contents.ts";
import { type StatusCode, statusOf } from "../../messages/status.ts";
import type { Toolbox } from "../../ports.ts";
import type { Budget } from "./budget.ts";
import { causeOf, type Failure } from "./causes.ts";

const findingSchema = z.looseObject({
  ...{ fault: z.string(), title: z.string(), operation: z.string(), expected: z.string(), found: z.string() },
  curl: z.string(),
});
const replySchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  duration_ms: z.number().default(0),
  verified_count: z.int().default(0),
  flaky: z.boolean().default(false),
  attempts: z.array(z.unknown()).default([]),
  failed_step: z
    .looseObject({ found: z.string().optional(), evidence: z.array(z.string()).default([]) })
    .optional(),
  /** Of tests that were generated from an API's document. */
  findings: z.array(findingSchema).default([]),
  requests: z.int().default(0),
});
type Reply = z.output<typeof replySchema>;

/** `use`: the call that runs it, without its limits. */
export type CaseRun = {
  scenario: Scenario;
  browser?: string | undefined;
  isApi: boolean;
  use: { name: "execute_testcase" | "run_api_tests"; input: Record<string, unknown> };
};

type Deps = { toolbox: Pick<Toolbox, "call">; budget: Budget; signal: AbortSignal };
export type CaseEnd = { result: CaseResult; errors: CaseError[]; evidence: string[] };

const mostRetries = 10;
const waitMs = 20_000;
const leastRunMs = 1_000;

/** Runs one case within the budget. A run that is cut off is cancelled and says by what. */
export async function runCase(run: CaseRun, deps: Deps): Promise<CaseEnd> {
  const { budget, signal } = deps;
  if (signal.aborted) return ended(run, "CANCELLED");
  if (budget.leftMs() <= 0) return ended(run, "NOT_RUN");
  try {
    return await runOnce(run, deps);
  } catch (error) {
    if (signal.aborted) return ended(run, "CANCELLED");
    if (!(error instanceof ToolFailure)) throw error;
    return ended(run, statusOf("error", error.code), [errorIn(run, error)]);
  }
}

async function runOnce(run: CaseRun, deps: Deps): Promise<CaseEnd> {
  const { budget } = deps;
  const wanted = run.scenario.retries ?? mostRetries;
  const retries = Math.min(budget.retriesLeft, wanted);
  // Findings are read whole.
  const maxTokens = run.use.name === "run_api_tests" ? 20_000 : 50;
  const reply = await untilEnd(await start(run, retries, deps), maxTokens, deps);
  const isUnconfirmed = reply.status === "failed" && retries === 0 && wanted > 0;
  budget.useRetries(Math.max(0, reply.attempts.length - 1), isUnconfirmed);
  const cut = reply.status === "cancelled" || reply.status === "timeout" ? whyCut(deps) : undefined;
  return endOf(run, reply, cut ?? statusOf(reply.status, reply.reason?.code));
}

/** What was not run, or could not be started. */
export const ended = (
  { scenario, browser }: Pick<CaseRun, "scenario" | "browser">,
  status: StatusCode,
  errors: CaseError[] = [],
): CaseEnd => ({
  result: {
    ...{ case: scenario.id, status, covers: scenario.covers },
    ...(browser !== undefined && { browser }),
    ...{ verified_count: 0, attempts: 0, flaky: false, duration_ms: 0 },
  },
  errors,
  evidence: [],
});

function whyCut({ signal, budget }: Deps): StatusCode | undefined {
  if (signal.aborted) return "CANCELLED";
  return budget.leftMs() <= 0 ? budget.crossed : undefined;
}

function start({ use }: CaseRun, retries: number, { toolbox, budget, signal }: Deps): Promise<Reply> {
  // The run ends by itself when the budget does, also when this process is killed.
  const timeout_ms = Math.min(Math.max(leastRunMs, Math.ceil(budget.leftMs())), 86_400_000);
  const limits = { timeout_ms, wait_ms: 0, ...(retries > 0 && { retries, retry_on: "any" }) };
  return callTyped(toolbox, { ...use, input: { ...use.input, ...limits } }, replySchema, signal);
}

const isOver = ({ status }: Reply) => status !== "queued" && status !== "running";

/** Waits for the end of a run, and cancels it when the budget ends or the caller leaves. */
async function untilEnd(begun: Reply, max_tokens: number, deps: Deps): Promise<Reply> {
  const { toolbox, budget, signal } = deps;
  let reply = begun;
  while (!isOver(reply)) {
    const left = budget.leftMs();
    if (signal.aborted || left <= 0) return cancelled(reply, deps);
    const wait_ms = Math.max(1, Math.min(waitMs, Math.ceil(left)));
    const input = { execution_id: reply.execution_id, wait_ms, max_tokens };
    reply = await callTyped(toolbox, { name: "get_execution_status", input }, replySchema, signal).catch(
      (error: unknown) => {
        if (signal.aborted) return reply;
        throw error;
      },
    );
  }
  return reply;
}

async function cancelled(reply: Reply, { toolbox }: Deps): Promise<Reply> {
  const { execution_id } = reply;
  // The caller's signal may be why.
  const signal = AbortSignal.timeout(waitMs);
  await toolbox.call({ name: "cancel_execution", input: { execution_id } }, { signal });
  const input = { execution_id, max_tokens: 50 };
  return callTyped(toolbox, { name: "get_execution_status", input }, replySchema, signal);
}

function endOf(run: CaseRun, reply: Reply, status: StatusCode): CaseEnd {
  const { execution_id, duration_ms, flaky, attempts, reason, failed_step, findings } = reply;
  const { result } = ended(run, status);
  const ofFindings = findings.map(({ fault, operation, title, expected, found, curl }) => ({
    ...{ case: run.scenario.id, code: fault, severity: severities[run.scenario.priority] },
    message: `${operation}: ${title}: expected ${expected}, found ${found}. ${curl}`.slice(0, 2_000),
  }));
  const ofReason =
    reason && status !== "PASSED" ? [errorIn(run, { ...reason, found: failed_step?.found })] : [];
  return {
    result: {
      ...{ ...result, execution_id, flaky, duration_ms, attempts: Math.max(1, attempts.length) },
      verified_count: run.use.name === "run_api_tests" ? reply.requests : reply.verified_count,
    },
    errors: ofFindings.length > 0 ? ofFindings : ofReason,
    evidence: failed_step?.evidence ?? [],
  };
}

const severities = { P1: "high", P2: "medium", P3: "low" } as const;

/** Why a case could not be started, or did not pass. */
export function errorIn(
  { scenario, isApi }: Pick<CaseRun, "scenario" | "isApi">,
  failure: Failure,
): CaseError {
  const { code } = causeOf(failure, { isApi });
  const from = code === failure.code ? "" : `${failure.code}: `;
  const message = `${from}${failure.message}`.slice(0, 2_000);
  return { case: scenario.id, code, message, severity: severities[scenario.priority] };
}
