import { type DeviceErrorCode, deviceErrorStatus } from "@labwright/controllers";

/** The closed list of codes with their HTTP status: those of seed 002 and ours, joined with the controllers' own. */
export const errorStatus = {
  ...deviceErrorStatus,
  // Seed 002, "Error Code Hierarchy".
  INVALID_PLAN: 400,
  PLANNING_TIMEOUT: 504,
  WEAK_MODEL: 400,
  TOOL_NOT_FOUND: 400,
  TOOL_FAILED: 500,
  EXECUTION_TIMEOUT: 504,
  INSUFFICIENT_RESOURCES: 429,
  VERIFICATION_FAILED: 500,
  VERIFICATION_TIMEOUT: 504,
  CONNECTION_REFUSED: 503,
  REQUEST_TIMEOUT: 504,
  INVALID_RESPONSE: 502,
  OUT_OF_MEMORY: 500,
  RATE_LIMITED: 429,
  MAX_RETRIES_EXCEEDED: 500,
  // Ours.
  ACTION_NOT_FOUND: 404,
  ALERT_NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  AMBIGUOUS: 409,
  ARTIFACT_NOT_FOUND: 404,
  ARTIFACT_STORE_FULL: 507,
  CANCELLED: 499,
  CHECK_INCONCLUSIVE: 500,
  CONFIG_INVALID: 400,
  CONFIRMATION_REQUIRED: 409,
  DAEMON_MISMATCH: 409,
  DAEMON_UNAVAILABLE: 503,
  DATA_DIR_BUSY: 409,
  DEPLOYMENT_NOT_FOUND: 404,
  DEVICE_AMBIGUOUS: 409,
  DEVICE_HELD: 409,
  DEVICE_NOT_FOUND: 404,
  EDGE_NOT_FOUND: 404,
  EMPTY_TEST: 400,
  ENVIRONMENT_SLOW: 500,
  EXECUTION_NOT_FOUND: 404,
  HOST_DENIED: 403,
  INPUT_TOO_LARGE: 413,
  INTERNAL: 500,
  INTERRUPTED: 500,
  INVALID_INPUT: 400,
  LEASE_EXPIRED: 409,
  LEASE_LOST: 409,
  LEASE_NOT_FOUND: 404,
  NO_ENTRY_NODE: 409,
  NO_PATH: 409,
  NODE_NOT_FOUND: 404,
  NOTHING_VERIFIED: 500,
  ORIGIN_DENIED: 403,
  OUTCOME_UNKNOWN: 502,
  PROTECTED: 409,
  RECORDING_NOT_FOUND: 404,
  REQUIREMENT_NOT_FOUND: 404,
  SANDBOX_UNAVAILABLE: 503,
  SCRIPT_FAILED: 500,
  SCRIPT_NOT_FOUND: 404,
  SECRET_NOT_FOUND: 404,
  SESSION_BUSY: 409,
  SESSION_NOT_FOUND: 404,
  STORAGE_FAILED: 500,
  TESTCASE_INVALID: 400,
  TESTCASE_NOT_FOUND: 404,
  TREE_NOT_FOUND: 404,
  UNAUTHORIZED: 401,
  UNKNOWN_VARIABLE: 400,
  USERINTERFACE_NOT_FOUND: 404,
} as const satisfies Record<DeviceErrorCode, number> & Record<string, number>;
export type ErrorCode = keyof typeof errorStatus;

/** A failure that a model or a person can act on. `message` says what happened, `hint` the next step to try. */
export class ToolError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly hint: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "ToolError";
  }
}
