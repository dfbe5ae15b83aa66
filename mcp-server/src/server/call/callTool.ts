import { z } from "zod";
import { wholeTexts } from "../../domain/wholeLetters.ts";
import { ToolError } from "../../errors.ts";
import type { Registry } from "../../registry/registry.ts";
import type { AnyTool, Attachment } from "../../registry/tool.ts";
import { isIdempotent } from "../../registry/wire.ts";
import {
  type CallContext,
  type CallFacts,
  type Clock,
  type FinishedRun,
  inProject,
  type Services,
} from "../../services/index.ts";
import type { CallOutcome, CallRecord, CallRequest, CallTool } from "./call.ts";
import { callError, isKnownError } from "./callError.ts";
import { beginOnce, type CallStore, type IdempotencyKey } from "./idempotency.ts";
import { parseInput } from "./parseInput.ts";
import { renderResult } from "./render.ts";
import { noSuchTool } from "./repair/noSuchTool.ts";

export type { Caller, CallOutcome, CallRecord, CallRequest, CallTool } from "./call.ts";

export type CallObserver = {
  /** Runs a call inside a span; `traceId` is 32 hex digits, that of `traceparent` if it has one. */
  trace<T>(name: string, traceparent: string | undefined, run: (traceId: string) => Promise<T>): Promise<T>;
  record(record: CallRecord): void;
  /** A fault of ours, with its stack, for the log only. */
  fault(error: unknown, where: { tool: string; trace_id: string }): void;
};

/** The host that runs a call for its device. Undefined: this one. */
export type HostRouter = { route(tool: AnyTool, args: unknown): CallTool | undefined };
const localOnly: HostRouter = { route: () => undefined };

export type CallToolDeps = {
  registry: Registry;
  services: Services;
  observe: CallObserver;
  calls: CallStore;
  clock: Clock;
  router?: HostRouter;
  /** The longest any call may take, besides the tool's own limit. */
  maxCallMs?: number;
};

/** The one path of every call: MCP, REST, jobs and the command line all take it. The returned function never throws. */
export function createCallTool(deps: CallToolDeps): CallTool {
  return async (request) => {
    const started = deps.clock.monotonic();
    const at = new Date(deps.clock.now()).toISOString();
    const name = request.name.slice(0, 128);
    const tool = deps.registry.find(request.name);
    return deps.observe.trace(name, request.traceparent, async (trace_id) => {
      const call: Attempt = { tool, trace_id, facts: {}, begun: undefined, late: new LateRecords() };
      const recordOf = (outcome: CallOutcome): CallRecord => ({
        ...call.facts,
        tool: tool ? name : "unknown",
        trace_id,
        principal: request.principal,
        client: request.client,
        effect: tool?.effect ?? "unknown",
        outcome: outcome.ok ? "ok" : outcome.error.code,
        duration_ms: deps.clock.monotonic() - started,
        at,
      });
      const ended = await attempt(deps, request, call);
      const outcome = mayChange(tool) ? await store(deps, call, ended, recordOf(ended)) : ended;
      deps.observe.record(recordOf(outcome));
      return outcome;
    });
  };
}

const mayChange = (tool: AnyTool | undefined): boolean => tool !== undefined && tool.effect !== "read";

type Attempt = {
  tool: AnyTool | undefined;
  trace_id: string;
  facts: CallFacts;
  /** The key that the call was begun with and has to be ended with. */
  begun: IdempotencyKey | undefined;
  late: LateRecords;
};

/** The runs that end with their call. */
class LateRecords {
  private readonly runs: FinishedRun[] = [];
  private isOver = false;
  private resolve: (stored: Promise<void>) => void = () => {};
  private readonly stored = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });

  constructor() {
    this.stored.catch(() => undefined);
  }

  leave(run: FinishedRun): Promise<void> | undefined {
    if (this.isOver) return undefined;
    this.runs.push(run);
    return this.stored;
  }

  /** Takes no more, and resolves for each record when it is stored. */
  end(write: (runs: readonly FinishedRun[]) => Promise<void>): Promise<void> {
    this.isOver = true;
    const written = write(this.runs);
    this.resolve(written);
    return written;
  }

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }
}

async function attempt(deps: CallToolDeps, asked: CallRequest, call: Attempt): Promise<CallOutcome> {
  try {
    const request = takeKey(asked);
    const { tool } = call;
    if (!tool) throw noSuchTool(deps.registry, request.name, request.arguments);
    const elsewhere = (deps.router ?? localOnly).route(tool, request.arguments);
    if (elsewhere) return await elsewhere(request);
    const input = parseInput(tool, withLease(tool, request));
    Object.assign(call.facts, factsIn(input));
    const { idempotency_key } = request;
    if (idempotency_key !== undefined && !isIdempotent(tool)) {
      const once = await beginOnce(deps.calls, { ...request, idempotency_key }, deps.clock.now());
      if ("before" in once) return once.before;
      call.begun = once.begun;
    }
    return await runTool(deps, tool, input, request, call);
  } catch (error) {
    return failed(deps, error, { tool: asked.name, trace_id: call.trace_id });
  }
}

/** Stores the end of the call before it is answered. An outcome that could not be stored is an error. */
async function store(
  deps: CallToolDeps,
  call: Attempt,
  outcome: CallOutcome,
  audit: CallRecord,
): Promise<CallOutcome> {
  const { begun, late } = call;
  const kept = begun && { key: begun, result: { outcome: storable(outcome) } };
  try {
    await late.end((runs) => deps.calls.end({ audit, begun: kept, runs }));
    return outcome;
  } catch (error) {
    const where = { tool: outcome.tool, trace_id: call.trace_id };
    deps.observe.fault(error, where);
    if (!begun && late.isEmpty) return outcome;
    const unstored = new ToolError(
      "STORAGE_FAILED",
      `${outcome.tool} ended ${audit.outcome}, but its end could not be stored: ${messageOf(error)}`,
      "Look at the device before you repeat it, and check the database and its disk.",
      {},
      { cause: error },
    );
    return failed(deps, unstored, where);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Pictures are large and name the file that holds them; a repeat gets that link only. */
function storable(outcome: CallOutcome): CallOutcome {
  if (!outcome.ok) return outcome;
  const isLink = (attachment: Attachment) => attachment.kind === "link";
  return { ...outcome, attachments: outcome.attachments.filter(isLink) };
}

function failed(deps: CallToolDeps, error: unknown, where: { tool: string; trace_id: string }): CallOutcome {
  if (!isKnownError(error)) deps.observe.fault(error, where);
  const described = callError(error, { trace_id: where.trace_id, now: deps.clock.now() });
  return { ok: false, ...where, error: wholeTexts(deps.services.secrets.mask(described)) };
}

/** Never throws: what a handler throws is an outcome too, and is stored under its idempotency key. */
async function runTool(
  deps: CallToolDeps,
  tool: AnyTool,
  input: Record<string, unknown>,
  request: CallRequest,
  call: Attempt,
): Promise<CallOutcome> {
  const { trace_id, facts } = call;
  const attachments: Attachment[] = [];
  const limit = startLimit(deps, tool, request.signal, facts);
  const context = contextOf(deps, request, call, limit);
  const { services } = deps;
  try {
    const attach = (attachment: Attachment) => void attachments.push(attachment);
    const handle = () => tool.handle({ input, services, context, attach });
    const inItsProject = () => inProject(request.project ?? "", handle);
    const work = services.secrets.within(request.secrets ?? {}, inItsProject);
    const result = await Promise.race([work, limit.ended]);
    const { mask, maskValues } = services.secrets;
    const structured = wholeTexts((tool.authored ? maskValues : mask)(checkedOutput(tool, result)));
    Object.assign(facts, { ...factsIn(structured), ...facts });
    const text = renderResult(structured);
    return { ok: true, tool: tool.name, trace_id, structured, text, attachments };
  } catch (error) {
    return failed(deps, limit.reason() ?? error, { tool: tool.name, trace_id });
  } finally {
    limit.stop();
  }
}

/** Ends a call at its deadline or when its caller goes, also if the handler ignores its signal. */
function startLimit(deps: CallToolDeps, tool: AnyTool, caller: AbortSignal, facts: CallFacts) {
  const ms = Math.min(tool.timeoutMs, deps.maxCallMs ?? tool.timeoutMs);
  const controller = new AbortController();
  let reason: ToolError | undefined;
  let reject: (error: ToolError) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  promise.catch(() => {});
  const end = (error: ToolError) => {
    if (reason) return;
    reason = error;
    controller.abort(error);
    reject(error);
  };
  const onCancel = () =>
    end(
      new ToolError(
        "CANCELLED",
        `${tool.name} was cancelled.`,
        "What it had done by then stays done; look before you go on.",
      ),
    );
  const onDeadline = () =>
    end(
      new ToolError(
        "EXECUTION_TIMEOUT",
        `${tool.name} did not end within ${ms} ms.`,
        facts.execution_id === undefined
          ? "Look at the device with dump_ui_elements, then ask for less at a time."
          : `get_execution_status of ${facts.execution_id} shows the state of its run.`,
        { timeout_ms: ms, ...(facts.execution_id !== undefined && { execution_id: facts.execution_id }) },
      ),
    );
  const stopTimer = deps.clock.setTimeout(onDeadline, ms);
  if (caller.aborted) onCancel();
  else caller.addEventListener("abort", onCancel, { once: true });
  return {
    signal: controller.signal,
    deadline: deps.clock.monotonic() + ms,
    ended: promise,
    reason: () => reason,
    stop() {
      stopTimer();
      caller.removeEventListener("abort", onCancel);
    },
  };
}

function contextOf(
  deps: CallToolDeps,
  request: CallRequest,
  call: Attempt,
  limit: { signal: AbortSignal; deadline: number },
): CallContext {
  const { secrets } = deps.services;
  return {
    principal: request.principal,
    client: request.client,
    signal: limit.signal,
    deadline: limit.deadline,
    trace_id: call.trace_id,
    progress: (done, total, message) => request.progress?.(done, total, secrets.mask(message)),
    capabilities: request.capabilities ?? { elicitation: false },
    note: (facts) => void Object.assign(call.facts, facts),
    ...(request.within && { within: request.within.execution_id }),
    ...(mayChange(call.tool) && { leave: (run) => call.late.leave(run) }),
  };
}

/** A part of a run means the run's device, where it takes one and names none. */
function withLease(tool: AnyTool, { arguments: args, within }: CallRequest): unknown {
  if (within?.session_id === undefined || !("session_id" in tool.input.shape)) return args;
  if (typeof args !== "object" || args === null || "device_id" in args) return args;
  return { session_id: within.session_id, ...args };
}

function checkedOutput(tool: AnyTool, result: unknown): Record<string, unknown> {
  const output = tool.output.safeParse(result);
  if (output.success) return output.data;
  throw new Error(
    `${tool.name} returned what its output schema does not allow: ${z.prettifyError(output.error)}`,
  );
}

/** The key may come as an argument, for hosts that cannot set `_meta`; tools never see it. */
function takeKey(request: CallRequest): CallRequest {
  const args = request.arguments;
  if (typeof args !== "object" || args === null || !("idempotency_key" in args)) return request;
  const { idempotency_key, ...rest } = args;
  const key = keySchema.safeParse(idempotency_key);
  if (key.success) return { ...request, arguments: rest, idempotency_key: key.data };
  throw new ToolError(
    "INVALID_INPUT",
    "idempotency_key must be a string of 1 to 200 characters.",
    "Give one key of your own for one call, for example a UUID.",
  );
}
const keySchema = z.string().min(1).max(200);

const factKeys = ["device_id", "session_id", "execution_id"] as const;

function factsIn(fields: Record<string, unknown>): CallFacts {
  const found = factKeys.map((key) => [key, fields[key]]).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(found);
}
