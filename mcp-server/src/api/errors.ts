import { randomBytes } from "node:crypto";
import { DeviceError } from "@labwright/controllers";
import type { Hono } from "hono";
import type { z } from "zod";
import { type ErrorCode, errors, ToolError } from "../errors.ts";
import type { CallOutcome } from "../server/call/callTool.ts";

type CallError = Extract<CallOutcome, { ok: false }>["error"];
export type ErrorBody = Omit<CallError, "code"> & { code: string };

/** The error object of seed 002, "Error Response Format", with the next step added. */
export function errorResponse(error: ErrorBody, headers: Record<string, string> = {}): Response {
  const { code, message, hint, http_status, details, trace_id, timestamp } = error;
  const body = { success: false, error: { code, message, http_status, details, trace_id, timestamp, hint } };
  return Response.json(body, { status: http_status, headers });
}

/** What a request says. Throws INVALID_INPUT with every problem; `hint` says what to send. */
export function readInput<T>(schema: z.ZodType<T>, given: unknown, hint: string): T {
  const { data, error } = schema.safeParse(given);
  if (!error) return data;
  const problems = error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
  throw new ToolError("INVALID_INPUT", problems.join("; "), hint);
}

export const newTraceId = (): string => randomBytes(16).toString("hex");

/** Has `api` answer what its routes throw; a fault of ours goes to the log too. */
export function errorsOf(api: Hono, fault: (error: unknown, trace_id: string) => void): Hono {
  return api.onError((error) => {
    const trace_id = newTraceId();
    if (!(error instanceof ToolError)) fault(error, trace_id);
    return thrownResponse(error, trace_id, new Date());
  });
}

/** An error of the REST layer itself, outside any tool call. */
export function thrownResponse(error: unknown, trace_id: string, at: Date): Response {
  const known = describe(error);
  return errorResponse({
    ...known,
    http_status: errors[known.code].status,
    trace_id,
    timestamp: at.toISOString(),
  });
}

function describe(error: unknown): {
  code: ErrorCode;
  message: string;
  hint: string;
  details: Readonly<Record<string, unknown>>;
} {
  if (error instanceof ToolError) {
    return { code: error.code, message: error.message, hint: error.hint, details: error.details };
  }
  if (error instanceof DeviceError) {
    return { code: error.code, message: error.message, hint: "", details: error.details };
  }
  return {
    code: "INTERNAL",
    message: "Something went wrong on the server.",
    hint: "See the daemon's log for this trace id: `labwright logs`.",
    details: {},
  };
}
