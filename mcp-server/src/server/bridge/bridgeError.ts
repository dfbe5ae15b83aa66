import { randomBytes } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ErrorCode, errors } from "../../errors.ts";
import type { CallError } from "../call/callError.ts";
import { renderError } from "../call/render.ts";

/**
 * The codes that answer a call which reaches no tool, with their HTTP status. Their values are the type's, so they cannot drift from
 * the closed list, which would bring the controllers with it.
 */
const status = {
  DAEMON_MISMATCH: 409,
  DAEMON_UNAVAILABLE: 503,
  INPUT_TOO_LARGE: 413,
  OUTCOME_UNKNOWN: 502,
  TOOL_NOT_FOUND: 400,
} as const satisfies { [Code in ErrorCode]?: (typeof errors)[Code]["status"] };

export class BridgeError extends Error {
  constructor(
    readonly code: keyof typeof status,
    message: string,
    readonly hint: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = "BridgeError";
  }
}

/** The same form as the daemon's own failures. */
export function failedResult(error: BridgeError): CallToolResult {
  const described: CallError = {
    code: error.code,
    message: error.message,
    hint: error.hint,
    http_status: status[error.code],
    details: error.details,
    trace_id: randomBytes(16).toString("hex"),
    timestamp: new Date().toISOString(),
  };
  return {
    isError: true,
    content: [{ type: "text", text: renderError(described) }],
    _meta: { "dev.labwright/trace_id": described.trace_id, "dev.labwright/error": described },
  };
}
