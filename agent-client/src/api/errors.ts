import { randomBytes } from "node:crypto";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { AgentError, type AgentErrorCode, agentErrorStatus } from "../errors.ts";

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
export type ErrorBody = z.output<typeof errorSchema>;

/** What went wrong, in the form of every answer; a fault of ours is told as INTERNAL, without its text. */
export function errorBody(error: unknown, trace_id: string, at: Date): ErrorBody {
  const known = describe(error);
  const timestamp = at.toISOString();
  return {
    success: false,
    error: { ...known, http_status: agentErrorStatus[known.code], trace_id, timestamp },
  };
}

/** True for what somebody outside caused; anything else belongs in the log. */
export const isExpected = (error: unknown): boolean =>
  error instanceof AgentError || (error instanceof HTTPException && error.status < 500);

export function errorResponse(body: ErrorBody): Response {
  const { http_status, details } = body.error;
  const headers = new Headers();
  if (http_status === 401) headers.set("www-authenticate", 'Bearer realm="labwright"');
  const { retry_after_seconds: wait, limit_per_minute: limit } = details;
  if (typeof wait === "number") headers.set("retry-after", String(wait));
  if (typeof wait === "number" && typeof limit === "number") {
    for (const [name, value] of Object.entries(rateHeaders(limit, 0, wait))) headers.set(name, value);
  }
  return Response.json(body, { status: http_status, headers });
}

/** How many requests a caller has in a minute and has left, and the seconds until it has all of them again. */
export const rateHeaders = (limit: number, remaining: number, reset: number): Record<string, string> => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(reset),
});

/** The caller's own trace id, where it sent a `traceparent`, else a new one. */
export const traceIdFrom = (traceparent: string | undefined): string =>
  /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent ?? "")?.[1] ?? randomBytes(16).toString("hex");

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

function describe(error: unknown): {
  code: AgentErrorCode;
  message: string;
  details: Record<string, unknown>;
  hint: string;
} {
  if (error instanceof AgentError) {
    const { code, message, hint, details } = error;
    return { code, message, hint, details: { ...details } };
  }
  if (error instanceof HTTPException && error.status < 500) {
    return {
      code: "INVALID_INPUT",
      message: `The request cannot be read: ${error.message}.`,
      hint: "Send one JSON object with `Content-Type: application/json`.",
      details: {},
    };
  }
  return {
    code: "INTERNAL",
    message: "Something went wrong in the agent client.",
    hint: "See its log for this trace id.",
    details: {},
  };
}
