import {
  type NavigationReport,
  navigationReportSchema,
  type ValidationReport,
  validationReportSchema,
} from "../../../domain/index.ts";
import { isErrorCode, ToolError } from "../../../errors.ts";
import type { CallContext, DeviceRef, ExecutionService, Run, RunReply, RunSpec } from "../../ports.ts";
import { verdictOf } from "../../records/verdicts.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { type AppModel, edgeLabel, getEdge, getNode } from "../userinterfaces/model.ts";
import { type EdgeRequest, type Moving, type NavigationRequest, validationTimeoutMs } from "./moving.ts";
import { navigationTimeoutMs, type WalkRequest } from "./walk.ts";

/** The run's own limit lies after the navigation's, which ends with a report. */
const graceMs = 10_000;

/** Asks for a run on a device, and says how long the caller waits for it. */
type Asked<Request> = DeviceRef & { wait_ms: number } & Request;

export type NavigationEnd = {
  verified?: boolean;
  at?: string;
  /** The labels that were passed, joined by arrows. */
  path?: string;
  replans?: number;
  expected_ms?: number;
  confidence?: number;
};
export type ValidationEnd = {
  passed?: number;
  failed?: number;
  unverified?: number;
  /** One line each of what failed or could not be tried. */
  problems?: string[];
};

type Dependencies = {
  executions: ExecutionService;
  userinterfaces: UserInterfaceService;
  moving: Moving;
};

/** Navigations as executions of their own, for callers without a run. A failure is thrown, with the execution's id. */
export function createRuns({ executions, userinterfaces, moving }: Dependencies) {
  const specOf = (
    request: Asked<WalkRequest>,
    { ui }: AppModel,
    name: string,
    input: object = {},
  ): Omit<RunSpec, "kind"> => ({
    name,
    input: { userinterface: ui.name, ...input },
    device: { device_id: request.device_id, session_id: request.session_id },
    userinterface: ui.name,
    wait_ms: request.wait_ms,
    timeout_ms: (request.timeout_ms ?? navigationTimeoutMs) + graceMs,
  });
  const navigated = async (
    spec: Omit<RunSpec, "kind">,
    context: CallContext,
    go: (run: Run) => Promise<NavigationReport>,
  ) => {
    const whole: RunSpec = { ...spec, kind: "navigation" };
    const reply = await executions.run<NavigationReport>(whole, context, async (run) => {
      const output = await go(run);
      const { status, error } = output;
      return { status, output, ...(error && { reason: { code: error.code, message: error.message } }) };
    });
    return replyOf(reply);
  };

  return {
    async runNavigation(request: Asked<NavigationRequest>, context: CallContext) {
      const model = await userinterfaces.load(request.userinterface);
      const { label } = getNode(model, request.target);
      const input = { target: label, variables: request.variables };
      const spec = specOf(request, model, `go to ${label}`, input);
      return navigated(spec, context, (run) => moving.navigate(run, request));
    },
    async runEdge(request: Asked<EdgeRequest>, context: CallContext) {
      const model = await userinterfaces.load(request.userinterface);
      const name = edgeLabel(model, getEdge(model, request.edge));
      const spec = specOf(request, model, name, { edge: request.edge, variables: request.variables });
      return navigated(spec, context, (run) => moving.executeEdge(run, request));
    },
    async runValidation(request: Asked<WalkRequest>, context: CallContext) {
      const model = await userinterfaces.load(request.userinterface);
      const limited = { ...request, timeout_ms: request.timeout_ms ?? validationTimeoutMs };
      const spec = specOf(limited, model, `validate ${model.ui.name}`);
      const whole: RunSpec = { ...spec, kind: "validation" };
      const reply = await executions.run<ValidationReport>(whole, context, async (run) => {
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

function replyOf(reply: RunReply<NavigationReport>) {
  const { execution_id, status, duration_ms, output: report } = reply;
  const end = navigationEnd(report);
  const { at, path } = end;
  const { dispatched, steps_before } = report?.error ?? {};
  const legs = report?.legs.filter(({ ok }) => !ok);
  refuseFailed(reply, report?.error, { at, path, dispatched, steps_before, legs });
  return {
    ...{ execution_id, status, ...queueOf(reply), ...end },
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

function validationReplyOf(reply: RunReply<ValidationReport>) {
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
