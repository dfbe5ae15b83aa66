import type { Action, ActionBatch, FinalStatus, Params } from "../../domain/index.ts";
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
import { callerOf, type Notices } from "../records/notices.ts";
import { verdictOf } from "../records/verdicts.ts";
import { commandsOf } from "./findCommand.ts";
import { withLastingSelectors } from "./screen/lasting.ts";

export type BatchRequest = DeviceRef &
  Omit<ActionBatch, "actions"> & {
    actions?: ActionBatch["actions"] | undefined;
    look: boolean;
    max_tokens: number;
    wait_ms: number;
    execution_id?: string | undefined;
    /** Also returns the actions that passed, with selectors instead of refs, so they can be replayed. */
    lasting?: boolean | undefined;
  };

export type BatchReply = {
  execution_id: string;
  status: string;
  /** What a queued run waits for. */
  queue?: string;
  results?: { command: string; message: string; data?: Params | undefined }[];
  screen?: string;
  lasting?: Action[];
};

export type BatchService = { run(request: BatchRequest, context: CallContext): Promise<BatchReply> };

type Output = { report: ActionReport; screen?: string | undefined; lasting?: Action[] };

export type BatchDependencies = {
  actions: ActionExecutor;
  screen: ScreenService;
  notices: Pick<Notices, "take">;
  devices: DeviceService;
  executions: ExecutionService;
  clock: Clock;
};

/** Longest time that a batch may take on its own; a test case is the place for more. */
const batchTimeoutMs = 600_000;

/** Runs action batches that a caller asks for, as executions, and tells what they changed on the screen. */
export function createBatches({
  actions,
  screen,
  notices,
  devices,
  executions,
  clock,
}: BatchDependencies): BatchService {
  async function body(request: BatchRequest, batch: ActionBatch, run: Run) {
    const startedAt = new Date(clock.now()).toISOString();
    const started = clock.monotonic();
    const named = request.lasting
      ? await withLastingSelectors(run.device, batch.actions, run.signal)
      : undefined;
    devices.drivenOutsideNavigation(run.device.id);
    const report = await actions.run(run.device, batch, { variables: {}, signal: run.signal });
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
      await run.step({
        path: "",
        kind: "actions",
        label: batch.actions.map(({ command }) => command).join(", "),
        status,
        started_at: startedAt,
        duration_ms,
        input: batch,
        output: report.results,
        artifacts: [],
        notices: late,
      });
    }
    const text = [
      ...noticeLines(run.noticesBefore, report.results, late),
      ...(changed ? [changed] : []),
    ].join("\n");
    const reason = failure && { code: failure.code, message: failure.message };
    const lasting = passedOf(named, report, run.device);
    const output = { report, ...(text !== "" && { screen: text }), ...lasting };
    return { status, ...(reason && { reason }), output };
  }

  return {
    async run(request, context) {
      if (request.execution_id !== undefined) {
        const reply = await executions.wait(request.execution_id, request.wait_ms, context);
        const queue = reply.status === "queued" ? reply.reason?.message : undefined;
        return { execution_id: reply.execution_id, status: reply.status, ...(queue && { queue }) };
      }
      const batch = batchOf(request);
      const reply = await executions.run<Output>(
        {
          kind: "actions",
          name: batch.actions.map(({ command }) => command).join(", "),
          device: { device_id: request.device_id, session_id: request.session_id },
          input: batch,
          wait_ms: request.wait_ms,
          timeout_ms: batchTimeoutMs,
        },
        context,
        (run) => body(request, batch, run),
      );
      return replyOf(reply);
    },
  };
}

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

function batchOf({ actions, retry_actions, failure_actions }: BatchRequest): ActionBatch {
  if (actions) return { actions, retry_actions, failure_actions };
  throw new ToolError(
    "INVALID_INPUT",
    "actions is missing.",
    "Give actions, or the execution_id of a run to go on waiting for.",
  );
}

/** A batch that failed is a failed call, with what was done so far; the run itself is stored either way. */
function replyOf({ execution_id, status, reason, output }: RunReply<Output>): BatchReply {
  const failure = output?.report.failure;
  if (output && failure) {
    throw new ToolError(
      codeOf(failure.code),
      failure.message,
      output.screen ? `The screen now:\n${output.screen}` : "Look at the screen with dump_ui_elements.",
      {
        execution_id,
        ...(output.lasting && { lasting: output.lasting }),
        done: output.report.results.filter(({ ok }) => ok).map(({ command, phase }) => `${phase} ${command}`),
      },
    );
  }
  if (reason && status !== "running" && status !== "queued") {
    throw new ToolError(codeOf(reason.code), reason.message, "get_execution_status has the steps so far.", {
      execution_id,
    });
  }
  const results = output?.report.results
    .filter((result) => !output.screen || saysMore(result))
    .map(({ command, message, data }) => ({ command, message, ...(data && { data }) }));
  return {
    execution_id,
    status,
    ...(reason && { queue: reason.message }),
    ...(results && results.length > 0 && { results }),
    ...(output?.screen && { screen: output.screen }),
    ...(output?.lasting && { lasting: output.lasting }),
  };
}

/** Whether a result tells what neither the request nor the screen does: its address stands above the screen. */
function saysMore({ ok, phase, isNews, data = {} }: ActionResult): boolean {
  if (!ok || phase !== "action" || isNews) return true;
  return Object.entries(data).some(
    ([key, value]) => key !== "url" && !(key === "status" && Number(value) < 400),
  );
}

const codeOf = (code = "TOOL_FAILED"): ErrorCode => (isErrorCode(code) ? code : "TOOL_FAILED");
