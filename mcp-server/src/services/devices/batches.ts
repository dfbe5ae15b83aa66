import { z } from "zod";
import {
  type Action,
  type ActionBatch,
  actionSchema,
  type FinalStatus,
  type Params,
  paramsSchema,
} from "../../domain/index.ts";
import { type ErrorCode, isErrorCode, ToolError } from "../../errors.ts";
import type {
  ActionExecutor,
  ActionReport,
  ActionResult,
  CallContext,
  Clock,
  DeviceRef,
  DeviceService,
  ExecutionService,
  Run,
  RunReply,
  ScreenService,
} from "../ports.ts";
import { abortEnding, reasonOf } from "../records/executions/endings.ts";
import { callerOf, type Notices } from "../records/notices.ts";
import { verdictOf } from "../records/verdicts.ts";
import { commandsOf } from "./findCommand.ts";
import type { StepRecordings } from "./recordings/steps.ts";
import { asRecorded, namesRef, withLastingSelectors } from "./screen/lasting.ts";

export type BatchRequest = DeviceRef &
  ActionBatch & {
    look: boolean;
    max_tokens: number;
    wait_ms: number;
    /** Also returns the actions that passed, with selectors instead of refs, so they can be replayed. */
    lasting?: boolean | undefined;
  };

export type BatchEnd = {
  results?: { command: string; message: string; data?: Params | undefined }[];
  screen?: string;
  lasting?: Action[];
};
/** `queue`: what a queued run waits for. */
export type BatchReply = BatchEnd & { execution_id: string; status: string; queue?: string };

export type BatchService = { run(request: BatchRequest, context: CallContext): Promise<BatchReply> };

type Output = { report: ActionReport; screen?: string | undefined; lasting?: Action[] };

export type BatchDependencies = {
  actions: ActionExecutor;
  screen: ScreenService;
  notices: Pick<Notices, "take">;
  devices: DeviceService;
  executions: ExecutionService;
  clock: Clock;
  steps: Pick<StepRecordings, "isRecorded" | "note">;
};

/** Longest time that a batch may take on its own; a test case is the place for more. */
const batchTimeoutMs = 600_000;

export function createBatches({
  actions,
  screen,
  notices,
  devices,
  executions,
  clock,
  steps,
}: BatchDependencies): BatchService {
  async function body(request: BatchRequest, batch: ActionBatch, run: Run, results: ActionResult[]) {
    const started_at = new Date(clock.now()).toISOString();
    const started = clock.monotonic();
    const name = nameOf(batch);
    const step = { path: "", kind: "actions", label: name, started_at, input: batch, artifacts: [] };
    const named = await namedIn(request, batch, run);
    devices.drivenOutsideNavigation(run.device.id);
    const report = await actions
      .run(run.device, batch, { variables: {}, signal: run.signal, results })
      .catch(async (error: unknown) => {
        const ended = { ...brokenEnd(run, results, error), duration_ms: clock.monotonic() - started };
        await run.step({ ...step, ...ended, output: results, notices: notices.take(run.device) });
        throw error;
      });
    const { failure } = report;
    const status: FinalStatus = failure ? verdictOf(failure.code) : "passed";
    const duration_ms = clock.monotonic() - started;
    let changed: string | undefined;
    let late: string[] = [];
    try {
      const caller = callerOf(run.context);
      const options = { maxTokens: request.max_tokens, usable: report.usable, caller };
      if (request.look) changed = await screen.changes(run.device, options, run.signal);
    } finally {
      // What the device does while it is looked at is still of these actions.
      late = notices.take(run.device);
      await run.step({ ...step, status, duration_ms, error: failure, output: results, notices: late });
    }
    const text = [
      ...noticeLines(run.noticesBefore, report.results, late),
      ...(changed ? [changed] : []),
    ].join("\n");
    const reason = failure && { code: failure.code, message: failure.message };
    const lasting = keepPassed(request, passedOf(named, report, run.device), run);
    const output = { report, ...(text !== "" && { screen: text }), ...lasting };
    return { status, ...(reason && { reason }), output };
  }

  async function namedIn({ lasting }: BatchRequest, batch: ActionBatch, { device, context, signal }: Run) {
    const isRecorded = steps.isRecorded(device.id, context);
    if (isRecorded) return asRecorded(device, batch.actions, signal);
    return lasting ? withLastingSelectors(device, batch.actions, signal) : undefined;
  }

  /** Adds them to a recording of steps, and returns them to a caller who asked for them. */
  function keepPassed(request: BatchRequest, passed: { lasting?: Action[] }, { device, context }: Run) {
    steps.note(device.id, passed.lasting ?? [], context, !request.look && !request.actions.some(namesRef));
    return request.lasting ? passed : {};
  }

  return {
    async run(request, context) {
      const { actions: asked, retry_actions, failure_actions } = request;
      const batch = { actions: asked, retry_actions, failure_actions };
      const results: ActionResult[] = [];
      const reply = await executions.run<Output>(
        {
          kind: "actions",
          name: nameOf(batch),
          device: { device_id: request.device_id, session_id: request.session_id },
          input: batch,
          wait_ms: request.wait_ms,
          timeout_ms: batchTimeoutMs,
        },
        context,
        (run) => body(request, batch, run, results),
      );
      return replyOf(reply, results);
    },
  };
}

/** How actions without a report ended: they were stopped, or the device failed after them. */
function brokenEnd({ signal }: Run, results: readonly ActionResult[], error: unknown) {
  if (!signal.aborted) return { status: "error" as const, error: reasonOf(error) };
  const { status, reason } = abortEnding(signal.reason);
  return { status, error: results.at(-1)?.error ?? reason };
}

const nameOf = ({ actions }: ActionBatch) => actions.map(({ command }) => command).join(", ");

/** The actions that passed, without those that only read a value. */
function passedOf(
  named: readonly Action[] | undefined,
  { results }: ActionReport,
  device: Run["device"],
): { lasting?: Action[] } {
  if (!named) return {};
  const done = results.filter(({ phase }) => phase === "action");
  const isReading = ({ command: name }: Action) =>
    !name.startsWith("wait_") &&
    commandsOf(device).some(({ command }) => command.name === name && command.effect === "read");
  return { lasting: named.filter((action, index) => done[index]?.ok === true && !isReading(action)) };
}

/** In the order in which they came. One of several commands is named by its place. */
function noticeLines(
  before: readonly string[],
  results: readonly ActionResult[],
  late: readonly string[],
): string[] {
  const isOne = results.length === 1;
  return [
    ...before.map((notice) => `notice from before this call: ${notice}`),
    ...results.flatMap(({ command, notices = [] }, index) =>
      notices.map((notice) => `notice${isOne ? "" : ` of ${index + 1} ${command}`}: ${notice}`),
    ),
    ...late.map((notice) => `notice: ${notice}`),
  ];
}

/** A batch that failed is a failed call, with what was done so far; the run itself is stored either way. */
function replyOf(
  { execution_id, status, reason, output }: RunReply<Output>,
  results: readonly ActionResult[],
): BatchReply {
  const failure = output?.report.failure;
  // A run that was stopped has no failure, but the result of the action that it was at.
  const dispatched = (failure ?? results.at(-1)?.error)?.dispatched;
  const details = {
    execution_id,
    ...(dispatched && { dispatched }),
    ...(output?.lasting && { lasting: output.lasting }),
    done: results.filter(({ ok }) => ok).map(({ command, phase }) => `${phase} ${command}`),
  };
  if (output && failure) {
    throw new ToolError(
      codeOf(failure.code),
      failure.message,
      output.screen ? `The screen now:\n${output.screen}` : "Look at the screen with dump_ui_elements.",
      details,
    );
  }
  if (reason && status !== "running" && status !== "queued") {
    throw new ToolError(
      codeOf(reason.code),
      reason.message,
      "get_execution_status has the steps so far.",
      details,
    );
  }
  return { execution_id, status, ...(reason && { queue: reason.message }), ...batchEnd(output) };
}

const outputSchema = z.object({
  report: z.object({
    results: z.array(
      z.object({
        ok: z.boolean(),
        phase: z.string(),
        command: z.string(),
        message: z.string(),
        data: paramsSchema.optional(),
        isNews: z.boolean().optional(),
      }),
    ),
  }),
  screen: z.string().optional(),
  lasting: z.array(actionSchema).optional(),
});
type Result = z.output<typeof outputSchema>["report"]["results"][number];

/** What the result of a run says of a batch; nothing where it is another's or not there yet. */
export function batchEnd(output: unknown): BatchEnd {
  const result = outputSchema.safeParse(output).data;
  if (!result) return {};
  const { report, screen, lasting } = result;
  const results = report.results
    .filter((one) => !screen || saysMore(one))
    .map(({ command, message, data }) => ({ command, message, ...(data && { data }) }));
  return {
    ...(results.length > 0 && { results }),
    ...(screen && { screen }),
    ...(lasting && { lasting }),
  };
}

/** True if a result says more than the request and the screen do. The address stands above the screen already. */
function saysMore({ ok, phase, isNews, data = {} }: Result): boolean {
  if (!ok || phase !== "action" || isNews) return true;
  return Object.entries(data).some(
    ([key, value]) => key !== "url" && !(key === "status" && Number(value) < 400),
  );
}

const codeOf = (code = "TOOL_FAILED"): ErrorCode => (isErrorCode(code) ? code : "TOOL_FAILED");
