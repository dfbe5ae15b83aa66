import { z } from "zod";
import { callTyped, ToolFailure } from "../../mcp/calls.ts";
import { contextSchema, type Scenario } from "../../messages/contents.ts";
import { contentOf, type Envelope } from "../../messages/envelope.ts";
import type { Executor, ExecutorDeps, Job, Outcome } from "../executor.ts";
import { denialOf, type Judged } from "../policy.ts";
import type { CaseEnd, CaseRun } from "./runCase.ts";
import { noneRun, runCases } from "./runCases.ts";

/** Does one request after the other, and reports how many are here. */
export function inTurn(run: Executor["run"]): Pick<Executor, "run"> & { load(): number } {
  let load = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    load: () => load,
    async run(job) {
      load += 1;
      const turn = last.then(() => run(job));
      last = turn.catch(() => undefined);
      return turn.finally(() => {
        load -= 1;
      });
    },
  };
}

/** What of a message's content the policy judges. */
export type Judging = Pick<Judged, "scenarios" | "writes" | "test_data">;

/** Why the cases may not run, as the message's outcome: the policy, or a service that is down. Undefined: they may. */
export async function refused(
  runs: readonly Pick<CaseRun, "scenario" | "browser">[],
  judged: Judging,
  { message, signal }: Job,
  { policy, toolbox }: ExecutorDeps,
): Promise<Outcome | undefined> {
  const { environment, dependent_services } = contentOf(contextSchema, message, "context");
  const denial = await denialOf({ ...judged, environment, grants: message.constraints.grants }, policy);
  const why = denial
    ? { code: "POLICY_DENIED", message: `${denial.message} ${denial.hint}` }
    : await downAmong(dependent_services, toolbox, signal);
  if (!why) return undefined;
  return { payload: noneRun(runs, "BLOCKED", { case: "*", severity: "high", ...why }) };
}

const isAddress = (service: string) => /^https?:\/\//.test(service);
const statusSchema = z.object({ status: z.int() });

/** The first service given by its address that does not answer, or answers that it is broken. */
async function downAmong(services: readonly string[], toolbox: ExecutorDeps["toolbox"], signal: AbortSignal) {
  for (const url of services.filter(isAddress)) {
    const use = { name: "execute_api_request", input: { url, timeout_ms: serviceMs } };
    const found = await callTyped(toolbox, use, statusSchema, signal).catch((error: unknown) => {
      if (error instanceof ToolFailure) return error;
      throw error;
    });
    if (!(found instanceof ToolFailure) && found.status < 500) continue;
    const said = found instanceof ToolFailure ? found.message : `status ${found.status}`;
    return { code: "DEPENDENCY_DOWN", message: `${url}, which these tests depend on: ${said}` };
  }
  return undefined;
}
const serviceMs = 10_000;

/** Runs the cases. An executor that could start none of them was unable, so that another may try. */
export async function outcomeOf(
  runs: readonly (CaseRun | CaseEnd)[],
  job: Job,
  deps: ExecutorDeps,
): Promise<Outcome> {
  const payload = await runCases(runs, job, deps);
  const isUnable = payload.results.every(({ status, execution_id }) => status === "BLOCKED" && !execution_id);
  return { payload, ...(isUnable && { unable: payload.errors[0]?.message ?? "nothing could be started" }) };
}

/** Arguments that every run of a message has. */
export function sharedArgs(message: Envelope): Record<string, unknown> {
  const { environment, release, build } = contentOf(contextSchema, message, "context");
  const given = { environment, release, build, correlation_id: message.correlation_id };
  const grant = message.constraints.grants.includes("write:production") && { allow_production: true };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...grant,
  };
}

/** The test of a scenario that names no saved one. Test data are its variables, personal ones only with a grant. */
export function unsavedTest(
  { id, testcase, steps, gherkin, covers }: Scenario,
  {
    app,
    test_data,
    message,
  }: { app?: string | undefined; test_data: Judged["test_data"]; message: Envelope },
): Record<string, unknown> | undefined {
  if (testcase !== undefined) return undefined;
  const { pii, ...data } = test_data;
  const isGranted = message.constraints.grants.includes("pii:log");
  const variables = Object.fromEntries(
    Object.entries(data).filter(([name]) => isGranted || !pii.includes(name)),
  );
  const content = gherkin === undefined ? { steps } : { gherkin };
  return {
    ...{ name: id, variables, ...content },
    ...(covers.length > 0 && { covers }),
    ...(app !== undefined && { app }),
  };
}

export const notMine = ({ message_type }: Envelope, forward: "web" | "api"): Outcome => ({
  ...{ forward, reason: `a ${message_type} is for the ${forward} executor` },
});
