import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";

/** Carries the current span over awaits and timers. Registered once for the process, whether or not spans are sent. */
class AsyncContext implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => run.apply(thisArg, args));
  }
  bind<T>(_active: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    this.#storage.disable();
    return this;
  }
}

context.setGlobalContextManager(new AsyncContext());

/** Runs `run` as a span. A rejection is recorded by its code and name, never by its message. */
export async function span<T>(
  name: string,
  attributes: Attributes,
  run: (current: Span) => Promise<T>,
): Promise<T> {
  const started = trace.getTracer("labwright").startSpan(name, { attributes });
  const current = isSpanContextValid(started.spanContext())
    ? started
    : trace.wrapSpanContext({ ...newTrace(), traceFlags: TraceFlags.NONE });
  try {
    return await context.with(trace.setSpan(context.active(), current), () => run(current));
  } catch (error) {
    started.setStatus({ code: SpanStatusCode.ERROR, message: codeOf(error) });
    throw error;
  } finally {
    started.end();
  }
}

const newTrace = () => ({ traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") });

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};

/** The W3C id of the current trace, 32 hexadecimal digits; undefined outside any. */
export const currentTraceId = (): string | undefined => trace.getActiveSpan()?.spanContext().traceId;

/** The W3C `traceparent` to send in a header or in TRACEPARENT; undefined outside any trace. */
export function traceparent(): string | undefined {
  const current = trace.getActiveSpan()?.spanContext();
  if (current === undefined) return undefined;
  return `00-${current.traceId}-${current.spanId}-${current.traceFlags.toString(16).padStart(2, "0")}`;
}

/** Runs `run` below the span of a `traceparent`; a missing or malformed one changes nothing. */
export function withTraceparent<T>(header: string | undefined, run: () => T): T {
  const remote = header === undefined ? undefined : parseTraceparent(header);
  if (remote === undefined) return run();
  return context.with(trace.setSpanContext(context.active(), remote), run);
}

/** Source: W3C Trace Context, 3.2 (later versions may add fields after the flags; ff is not a version). */
export function parseTraceparent(header: string): SpanContext | undefined {
  const parts = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header.trim());
  const [, version, traceId = "", spanId = "", flags = "", more] = parts ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(remote) ? remote : undefined;
}
