import { AgentError, agentErrorStatus } from "@labwright/agent-client";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { type ErrorBody, errorResponse, newTraceId } from "../../api/errors.ts";
import { traceIdOf } from "../../server/traceId.ts";
import type { ApiDeps } from "./deps.ts";

/** The error object of seed 002, "Error Response Format", with the next step beside it. */
export const errorSchema = z.object({
  success: z.literal(false),
  error: z.object({
    code: z.string(),
    message: z.string(),
    http_status: z.int(),
    details: z.record(z.string(), z.unknown()),
    trace_id: z.string(),
    timestamp: z.string(),
    hint: z.string().describe("The next step to try."),
  }),
});

/** What went wrong, as it is told; a fault of ours is told as INTERNAL, without its text, and goes to the log. */
export function toldError(
  error: unknown,
  { clock, fault }: Pick<ApiDeps, "clock" | "fault">,
  traceparent?: string,
): ErrorBody {
  const trace_id = traceIdOf(traceparent) ?? newTraceId();
  const known = expected(error);
  if (!known) fault(error, trace_id);
  const { code, message, hint, details } = known ?? internal;
  const timestamp = new Date(clock.now()).toISOString();
  return { code, message, hint, details, http_status: agentErrorStatus[code], trace_id, timestamp };
}

export function toldResponse(error: ErrorBody): Response {
  const { retry_after_seconds: wait, limit_per_minute: limit } = error.details;
  const headers = {
    ...(error.http_status === 401 && { "www-authenticate": 'Bearer realm="labwright"' }),
    ...(typeof wait === "number" && { "retry-after": String(wait) }),
    ...(typeof wait === "number" && typeof limit === "number" && rateHeaders(limit, 0, wait)),
  };
  return errorResponse(error, headers);
}

/** How many requests a caller has in a minute and has left, and the seconds until it has all of them again. */
export const rateHeaders = (limit: number, remaining: number, reset: number): Record<string, string> => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(reset),
});

/** INVALID_INPUT for what a schema refused; names places and rules, never what was sent. */
export function invalidInput(error: z.ZodError, where: string): AgentError {
  const issues = error.issues.slice(0, 5).map(({ path, message }) => {
    const place = path.map(String).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  return new AgentError(
    "INVALID_INPUT",
    `The ${where} is not as it must be: ${issues.join("; ")}.`,
    "See /server/agent/openapi.json for what is expected.",
  );
}

const internal = new AgentError(
  "INTERNAL",
  "Something went wrong on the server.",
  "See the daemon's log for this trace id: `labwright logs`.",
);

/** Undefined for a fault of ours. */
function expected(error: unknown): AgentError | undefined {
  if (error instanceof AgentError) return error;
  if (!(error instanceof HTTPException && error.status < 500)) return undefined;
  return new AgentError(
    "INVALID_INPUT",
    `The request cannot be read: ${error.message}.`,
    "Send one JSON object with `Content-Type: application/json`.",
  );
}
