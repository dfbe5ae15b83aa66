/** Every failure of the agent client by its code, with the HTTP status that it has in the API. */
export const agentErrorStatus = {
  AGENT_NOT_FOUND: 404,
  AGENT_NOT_SELECTABLE: 400,
  API_KEY_INVALID: 401,
  APPROVAL_NOT_FOUND: 404,
  CONFIG_INVALID: 400,
  CONTEXT_FULL: 413,
  FORBIDDEN: 403,
  HOST_DENIED: 403,
  INPUT_TOO_LARGE: 413,
  INTERNAL: 500,
  INVALID_INPUT: 400,
  MODEL_FAILED: 502,
  MODEL_NOT_FOUND: 404,
  MODEL_OVERLOADED: 503,
  NO_API_KEY: 400,
  NOT_FOUND: 404,
  ORIGIN_DENIED: 403,
  RATE_LIMITED: 429,
  SERVER_UNREACHABLE: 503,
  SESSION_BUSY: 409,
  SESSION_NOT_FOUND: 404,
  SIGNATURE_INVALID: 401,
  SKILL_NOT_FOUND: 404,
  TOOL_FAILED: 500,
  UNAUTHORIZED: 401,
} as const;
export type AgentErrorCode = keyof typeof agentErrorStatus;

/** A failure to show to the caller: what is wrong, and in `hint` what to do next. */
export class AgentError extends Error {
  override readonly name = "AgentError";

  constructor(
    readonly code: AgentErrorCode,
    message: string,
    readonly hint: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}
