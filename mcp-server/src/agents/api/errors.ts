import { AgentError, agentErrorStatus } from "@labwright/agent-client";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { type ErrorBody, newTraceId } from "../../api/errors.ts";
import { findErrorFacts } from "../../errors.ts";
import { traceIdOf } from "../../server/http/access.ts";
import type { TaskEnd } from "../tasks.ts";
import type { ApiDeps } from "./deps.ts";

/** The error as the caller sees it. A fault of ours becomes INTERNAL without its text; the text goes to the log. */
export function reportedError(
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

const statuses = new Map<string, number>(Object.entries(agentErrorStatus));

/** Why a task failed that has a result; undefined for one that did not. */
export function taskError(
  { final_error }: TaskEnd,
  clock: ApiDeps["clock"],
  traceparent?: string,
): ErrorBody | undefined {
  const [, code, message = ""] = /^([A-Z_]+): (.*)/s.exec(String(final_error)) ?? [];
  if (code === undefined) return undefined;
  const http_status = statuses.get(code) ?? findErrorFacts(code)?.status ?? 500;
  const trace_id = traceIdOf(traceparent) ?? newTraceId();
  const timestamp = new Date(clock.now()).toISOString();
  return { code, message, hint: "", details: {}, http_status, trace_id, timestamp };
}

/** INVALID_INPUT for what a schema refused; names places and rules, never what was sent. */
export const invalidInput = (error: z.core.$ZodError, where: string): AgentError =>
  new AgentError(
    "INVALID_INPUT",
    `The ${where} is not as it must be: ${z.prettifyError(error).replace(/\s+/g, " ")}`,
    "See /server/agent/openapi.json for what is expected.",
  );

/** What `schema` makes of `given`. Throws INVALID_INPUT. */
export function parsed<T>(schema: z.ZodType<T>, given: unknown, where: string): T {
  const { data, error } = schema.safeParse(given);
  if (error) throw invalidInput(error, where);
  return data;
}

const internal = new AgentError(
  "INTERNAL",
  "Something went wrong here.",
  "`labwright logs` has its trace_id.",
);

/** Undefined for a fault of ours. */
function expected(error: unknown): AgentError | undefined {
  if (error instanceof AgentError) return error;
  if (!(error instanceof HTTPException && error.status < 500)) return undefined;
  return new AgentError("INVALID_INPUT", `The request cannot be read: ${error.message}.`, "Send JSON.");
}
