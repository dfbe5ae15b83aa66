import { taskErrors } from "@labwright/agent-client/errors";
import { type CodeFacts, type DeviceErrorCode, deviceErrors } from "@labwright/controllers";

/** The closed list of codes: ours, joined with the controllers' and those of tasks (seed 002). */
export const errors = {
  ...deviceErrors,
  ...taskErrors,
  ACTION_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  ALERT_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  ALREADY_EXISTS: { status: 409, fault: "app", stops: "both" },
  AMBIGUOUS: { status: 409, fault: "app", stops: "both" },
  API_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  ARTIFACT_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  ARTIFACT_STORE_FULL: { status: 507, fault: "lab", stops: "both" },
  CANCELLED: { status: 499, fault: "app", stops: "both" },
  CHECK_INCONCLUSIVE: { status: 500, fault: "lab", stops: "both" },
  CONFIG_INVALID: { status: 400, fault: "app", stops: "both" },
  CONFIRMATION_REQUIRED: { status: 409, fault: "app", stops: "both" },
  DAEMON_MISMATCH: { status: 409, fault: "app", stops: "both" },
  DAEMON_UNAVAILABLE: { status: 503, fault: "lab", stops: "both" },
  DATA_DIR_BUSY: { status: 409, fault: "app", stops: "both" },
  DEPLOYMENT_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  DEVICE_HELD: { status: 409, fault: "lab", stops: "both" },
  DEVICE_NOT_COPIED: { status: 409, fault: "app", stops: "both" },
  EDGE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  EMPTY_TEST: { status: 400, fault: "test", stops: "both" },
  ENVIRONMENT_SLOW: { status: 500, fault: "lab", stops: "walk" },
  EXECUTION_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  FILE_CHANGED: { status: 409, fault: "app", stops: "both" },
  FILE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  HANDOFF_ANSWERED: { status: 409, fault: "app", stops: "both" },
  HOST_DENIED: { status: 403, fault: "app", stops: "both" },
  INPUT_TOO_LARGE: { status: 413, fault: "app", stops: "both" },
  INTERNAL: { status: 500, fault: "lab", stops: "both" },
  INTERRUPTED: { status: 500, fault: "lab", stops: "both" },
  INVALID_INPUT: { status: 400, fault: "test", stops: "both" },
  INVESTIGATION_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  LEASE_EXPIRED: { status: 409, fault: "lab", stops: "both" },
  LEASE_LOST: { status: 409, fault: "lab", stops: "both" },
  LEASE_NOT_FOUND: { status: 404, fault: "lab", stops: "both" },
  NO_ENTRY_NODE: { status: 409, fault: "test", stops: "both" },
  NO_PATH: { status: 409, fault: "test", stops: "both" },
  NODE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  NOTHING_VERIFIED: { status: 500, fault: "test", stops: "both" },
  OPERATION_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  ORIGIN_DENIED: { status: 403, fault: "app", stops: "both" },
  OUTCOME_UNKNOWN: { status: 502, fault: "lab", stops: "both" },
  POLICY_DENIED: { status: 403, fault: "test", stops: "both" },
  PROTECTED: { status: 409, fault: "app", stops: "both" },
  RECORDING_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  REQUIREMENT_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  SANDBOX_UNAVAILABLE: { status: 503, fault: "lab", stops: "both" },
  SCRIPT_FAILED: { status: 500, fault: "app", stops: "both" },
  SCRIPT_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  SECRET_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  SESSION_BUSY: { status: 409, fault: "app", stops: "both" },
  SESSION_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  SKILL_NOT_FOUND: { status: 404, fault: "app", stops: "both" },
  STORAGE_FAILED: { status: 500, fault: "lab", stops: "both" },
  TESTCASE_INVALID: { status: 400, fault: "test", stops: "both" },
  TESTCASE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  TREE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  UNAUTHORIZED: { status: 401, fault: "app", stops: "both" },
  UNKNOWN_VARIABLE: { status: 400, fault: "test", stops: "both" },
  USERINTERFACE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  WEB_SERVER_FAILED: { status: 503, fault: "lab", stops: "both" },
} as const satisfies Record<DeviceErrorCode, CodeFacts> & Record<string, CodeFacts>;
export type ErrorCode = keyof typeof errors;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);

/** Undefined for a code of another program, such as a script's own. */
export const findErrorFacts = (code: string): CodeFacts | undefined =>
  isErrorCode(code) ? errors[code] : undefined;

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
