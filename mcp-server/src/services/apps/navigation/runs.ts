import {
  type NavigationReport,
  navigationReportSchema,
  type ValidationReport,
  validationReportSchema,
} from "../../../domain/index.ts";
import { isErrorCode, ToolError } from "../../../errors.ts";
import type { CallContext, ExecutionService, Run, RunReply, RunSpec } from "../../ports.ts";
import { verdictOf } from "../../records/verdicts.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { edgeLabel, getEdge, getNode } from "../userinterfaces/model.ts";
import type {
  Asked,
  NavigationEnd,
  NavigationReply,
  NavigationService,
  ValidationEnd,
  ValidationReply,
} from "./types.ts";

/** How long a navigation, an edge and a whole validation may take when the caller does not say. */
export const navigationTimeoutMs = 120_000;
export const validationTimeoutMs = 1_800_000;
/** The run's own limit lies behind the navigation's, which ends with a report. */
const graceMs = 10_000;

type Dependencies = {
  executions: ExecutionService;
  userinterfaces: UserInterfaceService;
  moving: Pick<NavigationService, "navigate" | "executeEdge" | "validate">;
};

/** Navigations as executions of their own, for callers that have no run yet. */
export function createRuns({
  executions,
  userinterfaces,
  moving,
}: Dependencies): Pick<NavigationService, "runNavigation" | "runEdge" | "runValidation"> {
  const specOf = (
    request: Asked<{ timeout_ms?: number | undefined }>,
    app: string,
    rest: Pick<RunSpec, "kind" | "name" | "input">,
    timeoutMs: number,
  ): RunSpec => ({
    ...rest,
    device: { device_id: request.device_id, session_id: request.session_id },
    userinterface: app,
    wait_ms: request.wait_ms,
    timeout_ms: (request.timeout_ms ?? timeoutMs) + graceMs,
  });
  const navigated = (spec: RunSpec, context: CallContext, go: (run: Run) => Promise<NavigationReport>) =>
    executions.run<NavigationReport>(spec, context, async (run) => {
      const output = await go(run);
      const { status, error } = output;
      return { status, output, ...(error && { reason: { code: error.code, message: error.message } }) };
    });

  return {
    async runNavigation(request, context) {
      const model = await userinterfaces.load(request.userinterface);
      const target = getNode(model, request.target);
      const input = { userinterface: model.ui.name, target: target.label, variables: request.variables };
      const rest = { kind: "navigation" as const, name: `go to ${target.label}`, input };
      const spec = specOf(request, model.ui.name, rest, navigationTimeoutMs);
      return replyOf(await navigated(spec, context, (run) => moving.navigate(run, request)));
    },
    async runEdge(request, context) {
      const model = await userinterfaces.load(request.userinterface);
      const name = edgeLabel(model, getEdge(model, request.edge));
      const input = { userinterface: model.ui.name, edge: request.edge, variables: request.variables };
      const spec = specOf(request, model.ui.name, { kind: "navigation", name, input }, navigationTimeoutMs);
      return replyOf(await navigated(spec, context, (run) => moving.executeEdge(run, request)));
    },
    async runValidation(request, context) {
      const model = await userinterfaces.load(request.userinterface);
      const rest = {
        kind: "validation" as const,
        name: `validate ${model.ui.name}`,
        input: { userinterface: model.ui.name },
      };
      const spec = specOf(request, model.ui.name, rest, validationTimeoutMs);
      const reply = await executions.run<ValidationReport>(spec, context, async (run) => {
        const output = await moving.validate(run, request);
        return { ...verdictOfTrials(output), output };
      });
      return validationReplyOf(reply);
    },
  };
}

/** A failure of the app outweighs what could not be judged; the reason is the first of its kind. */
function verdictOfTrials({ trials }: ValidationReport) {
  const failures = trials.flatMap(({ edge, ok, error }) => (ok || !error ? [] : [{ edge, ...error }]));
  const worst = failures.find(({ code }) => verdictOf(code) === "failed") ?? failures[0];
  if (!worst) return { status: "passed" as const };
  const { edge, code, message } = worst;
  return { status: verdictOf(code), reason: { code, message: `${edge}: ${message}` } };
}

function replyOf(reply: RunReply<NavigationReport>): NavigationReply {
  const { execution_id, status, duration_ms, output: report } = reply;
  const end = navigationEnd(report);
  const { at, path } = end;
  refuseFailed(reply, report?.error, { at, path, legs: report?.legs.filter(({ ok }) => !ok) });
  return {
    execution_id,
    status,
    ...queueOf(reply),
    ...end,
    ...(duration_ms !== undefined && { duration_ms }),
  };
}

/** What the result of a run says of a navigation; nothing where it is another's or not there yet. */
export function navigationEnd(result: unknown): NavigationEnd {
  const report = navigationReportSchema.safeParse(result).data;
  if (!report) return {};
  const { verified, replans, at, expected_ms, confidence, legs } = report;
  const path = [legs[0]?.from, ...legs.map(({ to }) => to)].filter(Boolean).join(" → ");
  return {
    verified,
    replans,
    ...(at !== undefined && { at }),
    ...(path && { path }),
    ...(expected_ms !== undefined && { expected_ms }),
    ...(confidence !== undefined && { confidence }),
  };
}

/** A run that failed is a failed call; the run is stored either way. */
function refuseFailed(
  { execution_id, status, reason }: RunReply<object>,
  failure: { code: string; message: string } | undefined,
  details: Record<string, unknown>,
): void {
  const error = failure ?? reason;
  if (status === "passed" || status === "running" || status === "queued" || !error) return;
  throw new ToolError(
    isErrorCode(error.code) ? error.code : "NAVIGATION_FAILED",
    error.message,
    "Look at the screen with dump_ui_elements; update_edge and update_node correct the tree.",
    { execution_id, ...details },
  );
}

/** What a queued run waits for. */
const queueOf = ({ status, reason }: RunReply<object>) =>
  status === "queued" && reason ? { queue: reason.message } : {};

function validationReplyOf(reply: RunReply<ValidationReport>): ValidationReply {
  if (!reply.output) refuseFailed(reply, undefined, {});
  const { execution_id, status, output } = reply;
  return { execution_id, status, ...queueOf(reply), ...validationEnd(output) };
}

/** What the result of a run says of a validation; nothing where it is another's or not there yet. */
export function validationEnd(result: unknown): ValidationEnd {
  const report = validationReportSchema.safeParse(result).data;
  if (!report) return {};
  const { passed, failed, unverified, trials } = report;
  const problems = trials
    .filter(({ ok }) => !ok)
    .slice(0, 50)
    .map(({ edge, action_set_id, reached_source, error }) => {
      const what = reached_source ? "" : "not tried: ";
      return `${edge} (${action_set_id}): ${what}${error ? `${error.code}: ${error.message}` : "failed"}`;
    });
  return { passed, failed, unverified, problems };
}
