import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type ErrorCode, ToolError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import type { AnyTool, Attachment } from "../registry/tool.ts";
import { isIdempotent } from "../registry/wire.ts";
import type { CallContext, CallFacts, Clock, Services } from "../services/index.ts";
import type { CallOutcome, CallRequest, CallTool } from "./call.ts";
import { callError, isKnownError } from "./callError.ts";
import { type IdempotencyStore, runOnce } from "./idempotency.ts";
import { parseInput } from "./parseInput.ts";
import { renderResult } from "./render.ts";
import { traceIdOf } from "./traceId.ts";

export type { CallOutcome, CallRequest, CallTool } from "./call.ts";

/** What the log, the metrics and the audit learn of one call. `outcome` is `ok` or an error code. */
export type CallRecord = CallFacts & {
  tool: string;
  trace_id: string;
  principal: string;
  client: string;
  effect: AnyTool["effect"] | "unknown";
  outcome: "ok" | ErrorCode;
  duration_ms: number;
  at: string;
};

export type CallObserver = {
  /** Runs a call inside a span; `traceId` is 32 hex digits, that of `traceparent` if it has one. */
  trace<T>(name: string, traceparent: string | undefined, run: (traceId: string) => Promise<T>): Promise<T>;
  record(record: CallRecord): void;
  /** A fault of ours, with its stack, for the log only. */
  fault(error: unknown, where: { tool: string; trace_id: string }): void;
};

/** Who runs a call for a device of another host. Undefined: this one does. */
export type HostRouter = { route(tool: AnyTool, args: unknown): CallTool | undefined };
export const localOnly: HostRouter = { route: () => undefined };

export type CallToolDeps = {
  registry: Registry;
  services: Services;
  observe: CallObserver;
  /** Stored before a call that may change something is answered. */
  audit(record: CallRecord): Promise<void>;
  idempotency: IdempotencyStore;
  clock: Clock;
  router?: HostRouter;
  /** The longest any call may take, beside the tool's own limit. */
  maxCallMs?: number;
};

/** The one path of every call: MCP, REST, jobs and the command line all take it. The returned function never throws. */
export function createCallTool(deps: CallToolDeps): CallTool {
  return async (request) => {
    const started = deps.clock.now();
    const name = request.name.slice(0, 128);
    const tool = deps.registry.find(request.name);
    return deps.observe.trace(name, request.traceparent, async (trace_id) => {
      const facts: CallFacts = {};
      const recordOf = (outcome: CallOutcome): CallRecord => ({
        ...facts,
        tool: tool ? name : "unknown",
        trace_id,
        principal: request.principal,
        client: request.client,
        effect: tool?.effect ?? "unknown",
        outcome: outcome.ok ? "ok" : outcome.error.code,
        duration_ms: Math.round(deps.clock.now() - started),
        at: new Date(started).toISOString(),
      });
      let audited: Promise<void> | undefined;
      const audit = (outcome: CallOutcome): void => {
        if (!tool || tool.effect === "read") return;
        audited ??= deps
          .audit(recordOf(outcome))
          .catch((error: unknown) => deps.observe.fault(error, { tool: name, trace_id }));
      };
      const outcome = await attempt(deps, request, { tool, trace_id, facts, onOutcome: audit });
      deps.observe.record(recordOf(outcome));
      audit(outcome);
      await audited;
      return outcome;
    });
  };
}

type Attempt = {
  tool: AnyTool | undefined;
  trace_id: string;
  facts: CallFacts;
  /** Told as soon as the tool has ended, while the outcome is still being stored under its key. */
  onOutcome(outcome: CallOutcome): void;
};

async function attempt(deps: CallToolDeps, asked: CallRequest, call: Attempt): Promise<CallOutcome> {
  const { tool, trace_id, facts } = call;
  const where = { tool: asked.name, trace_id };
  try {
    const request = takeKey(asked);
    const found = tool ?? deps.registry.get(request.name);
    const elsewhere = (deps.router ?? localOnly).route(found, request.arguments);
    if (elsewhere) return await elsewhere(request);
    const input = parseInput(found, request.arguments);
    Object.assign(facts, factsIn(input));
    const once = async () => {
      const outcome = await runTool(deps, found, input, request, { trace_id, facts });
      call.onOutcome(outcome);
      return outcome;
    };
    const { idempotency_key } = request;
    if (idempotency_key === undefined || isIdempotent(found)) return await once();
    return await runOnce(deps.idempotency, { ...request, idempotency_key }, deps.clock.now(), once);
  } catch (error) {
    return failed(deps, error, where);
  }
}

function failed(deps: CallToolDeps, error: unknown, where: { tool: string; trace_id: string }): CallOutcome {
  if (!isKnownError(error)) deps.observe.fault(error, where);
  const described = callError(error, { trace_id: where.trace_id, now: deps.clock.now() });
  return { ok: false, ...where, error: deps.services.secrets.mask(described) };
}

/** Never throws: what a handler throws is an outcome too, and is stored under its idempotency key. */
async function runTool(
  deps: CallToolDeps,
  tool: AnyTool,
  input: Record<string, unknown>,
  request: CallRequest,
  { trace_id, facts }: Pick<Attempt, "trace_id" | "facts">,
): Promise<CallOutcome> {
  const attachments: Attachment[] = [];
  const limit = startLimit(deps, tool, request.signal);
  const context = contextOf(deps, request, {
    trace_id,
    facts,
    signal: limit.signal,
    deadline: limit.deadline,
  });
  const { services } = deps;
  try {
    const work = tool.handle({ input, services, context, attach: (a) => void attachments.push(a) });
    const result = await Promise.race([work, limit.ended]);
    const structured = services.secrets.mask(checkedOutput(tool, result));
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
function startLimit(deps: CallToolDeps, tool: AnyTool, caller: AbortSignal) {
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
        "Look at the device with dump_ui_elements, then ask for less at a time.",
        { timeout_ms: ms },
      ),
    );
  const stopTimer = deps.clock.setTimeout(onDeadline, ms);
  if (caller.aborted) onCancel();
  else caller.addEventListener("abort", onCancel, { once: true });
  return {
    signal: controller.signal,
    deadline: deps.clock.now() + ms,
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
  call: Pick<Attempt, "trace_id" | "facts"> & { signal: AbortSignal; deadline: number },
): CallContext {
  const { secrets } = deps.services;
  return {
    principal: request.principal,
    client: request.client,
    signal: call.signal,
    deadline: call.deadline,
    trace_id: call.trace_id,
    progress: (done, total, message) => request.progress?.(done, total, secrets.mask(message)),
    capabilities: request.capabilities ?? { elicitation: false },
    note: (facts) => void Object.assign(call.facts, facts),
  };
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

/** Traces nothing and logs nothing; gives every call its trace id. */
export const silentObserver: CallObserver = {
  trace: (_name, traceparent, run) => run(traceIdOf(traceparent) ?? randomBytes(16).toString("hex")),
  record: () => {},
  fault: () => {},
};
