/**
 * Codes of a task's plan and run, with what the server must know of each: the fifteen of seed 002, "Error Code Hierarchy", and
 * PLANNING_FAILED. `fault` and `stops` are as in `CodeFacts` of the controllers; the server joins them to its own.
 */
export const taskErrors = {
  INVALID_PLAN: { status: 400, fault: "app", stops: "both" },
  PLANNING_FAILED: { status: 500, fault: "app", stops: "both" },
  PLANNING_TIMEOUT: { status: 504, fault: "app", stops: "both" },
  WEAK_MODEL: { status: 400, fault: "app", stops: "both" },
  TOOL_NOT_FOUND: { status: 400, fault: "app", stops: "both" },
  TOOL_FAILED: { status: 500, fault: "app", stops: "both" },
  EXECUTION_TIMEOUT: { status: 504, fault: "app", stops: "both" },
  INSUFFICIENT_RESOURCES: { status: 429, fault: "lab", stops: "both" },
  VERIFICATION_FAILED: { status: 500, fault: "app", stops: "none" },
  VERIFICATION_TIMEOUT: { status: 504, fault: "app", stops: "none" },
  CONNECTION_REFUSED: { status: 503, fault: "lab", stops: "walk" },
  REQUEST_TIMEOUT: { status: 504, fault: "app", stops: "walk" },
  INVALID_RESPONSE: { status: 502, fault: "app", stops: "walk" },
  OUT_OF_MEMORY: { status: 500, fault: "lab", stops: "both" },
  RATE_LIMITED: { status: 429, fault: "lab", stops: "both" },
  MAX_RETRIES_EXCEEDED: { status: 500, fault: "app", stops: "walk" },
} as const;
type TaskErrorCode = keyof typeof taskErrors;

const taskErrorStatus = Object.fromEntries(
  Object.entries(taskErrors).map(([code, { status }]) => [code, status]),
) as { [Code in TaskErrorCode]: (typeof taskErrors)[Code]["status"] };

/** Every failure of the agent client by its code, with the HTTP status that it has in the API. */
export const agentErrorStatus = {
  ...taskErrorStatus,
  AGENT_NOT_FOUND: 404,
  AGENT_NOT_SELECTABLE: 400,
  API_KEY_INVALID: 401,
  APPROVAL_NOT_FOUND: 404,
  CANCELLED: 499,
  CONFIG_INVALID: 400,
  CONTEXT_FULL: 413,
  FORBIDDEN: 403,
  HOST_DENIED: 403,
  INPUT_TOO_LARGE: 413,
  INTERNAL: 500,
  INTERRUPTED: 500,
  INVALID_INPUT: 400,
  MODEL_FAILED: 502,
  MODEL_NOT_FOUND: 404,
  MODEL_OVERLOADED: 503,
  NO_API_KEY: 400,
  NOT_FOUND: 404,
  ORIGIN_DENIED: 403,
  POLICY_DENIED: 403,
  OUTCOME_UNKNOWN: 502,
  SERVER_UNREACHABLE: 503,
  SESSION_BUSY: 409,
  SESSION_NOT_FOUND: 404,
  SIGNATURE_INVALID: 401,
  SKILL_NOT_FOUND: 404,
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
