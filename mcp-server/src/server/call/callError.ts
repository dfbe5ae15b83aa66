import { DeviceError } from "@labwright/controllers";
import { type ErrorCode, errors, ToolError } from "../../errors.ts";
import { fileFailure } from "../../fileFailure.ts";
import { storageFailure } from "../../storage/engine/failure.ts";

/** How a call failed, the same on every transport. `timestamp` is ISO 8601 UTC. */
export type CallError = {
  code: ErrorCode;
  message: string;
  hint: string;
  http_status: number;
  details: Readonly<Record<string, unknown>>;
  trace_id: string;
  timestamp: string;
};

type Where = { trace_id: string; now: number };

function toolError(error: ToolError, where: Where): CallError {
  return {
    code: error.code,
    message: error.message,
    hint: error.hint,
    http_status: errors[error.code].status,
    details: error.details,
    trace_id: where.trace_id,
    timestamp: new Date(where.now).toISOString(),
  };
}

/**
 * The error with one of the closed codes. A device's message already ends with the next step. An error of no known kind
 * becomes INTERNAL without its text, which may hold anything; the log has it.
 */
export function callError(error: unknown, where: Where): CallError {
  const known = knownError(error);
  if (known) return toolError(known, where);
  return toolError(
    new ToolError(
      "INTERNAL",
      "Labwright failed in a way it does not know.",
      "Try once more; if it happens again, report it with the trace id, which finds the cause in the daemon's log.",
    ),
    where,
  );
}

export const isKnownError = (error: unknown): boolean => knownError(error) !== undefined;

function knownError(error: unknown): ToolError | undefined {
  if (error instanceof ToolError) return error;
  if (error instanceof DeviceError) return new ToolError(error.code, error.message, "", error.details);
  const file = fileFailure(error);
  return file ? new ToolError("STORAGE_FAILED", file.message, file.hint) : storageFailure(error);
}
