import type { ErrorCode } from "../../errors.ts";

/** The device, the lab or the server failed. */
const labCodes: readonly ErrorCode[] = [
  "APP_UNREACHABLE",
  "ARTIFACT_STORE_FULL",
  "BROWSER_NOT_FOUND",
  "BROWSER_UNUSABLE",
  "CONNECTION_REFUSED",
  "CONTROLLER_UNAVAILABLE",
  "DAEMON_MISMATCH",
  "DAEMON_UNAVAILABLE",
  "DATA_DIR_BUSY",
  "DEVICE_ERROR",
  "DEVICE_HELD",
  "DEVICE_LOST",
  "DEVICE_NOT_FOUND",
  "ENVIRONMENT_SLOW",
  "FENCE_OUTDATED",
  "INSUFFICIENT_RESOURCES",
  "INTERNAL",
  "INTERRUPTED",
  "LEASE_EXPIRED",
  "LEASE_LOST",
  "LEASE_NOT_FOUND",
  "OUTCOME_UNKNOWN",
  "OUT_OF_MEMORY",
  "PAGE_UNRESPONSIVE",
  "RATE_LIMITED",
  "SANDBOX_UNAVAILABLE",
  "STORAGE_FAILED",
];

/** The test asks for what does not exist or is not allowed: no app and no lab can make it right. */
const testCodes: readonly ErrorCode[] = [
  "ACTION_NOT_FOUND",
  "DEVICE_AMBIGUOUS",
  "EDGE_NOT_FOUND",
  "EMPTY_TEST",
  "HOST_DENIED",
  "INVALID_INPUT",
  "INVALID_PARAMS",
  "INVALID_SELECTOR",
  "NODE_NOT_FOUND",
  "NOTHING_VERIFIED",
  "NO_ENTRY_NODE",
  "NO_PATH",
  "PATH_DENIED",
  "REFERENCE_NOT_FOUND",
  "SCRIPT_NOT_FOUND",
  "SECRET_NOT_FOUND",
  "TESTCASE_INVALID",
  "TESTCASE_NOT_FOUND",
  "TREE_NOT_FOUND",
  "UNKNOWN_VARIABLE",
  "UNSAFE_DISABLED",
  "URL_DENIED",
  "USERINTERFACE_NOT_FOUND",
];

/** The messages of these codes quote the page, and a page may say anything. */
const pageCodes: readonly ErrorCode[] = ["VERIFICATION_FAILED", "SCRIPT_FAILED"];

/** What Chromium, Node, adb and Linux say when the network, the device or the machine is gone. */
const labMessages =
  /\bnet::ERR_(NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|CONNECTION_\w+|ADDRESS_UNREACHABLE|NETWORK_\w+|PROXY_\w+|TIMED_OUT|DNS_\w+)|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOSPC|ENOMEM|EMFILE)\b|\bdevice (offline|unauthorized|not found)\b|\bno devices\/emulators found\b|\b(browser|target|page) (has been closed|crashed)\b/i;

const includes = (codes: readonly string[], code: string): boolean => codes.includes(code);

export const isTimeout = (code: string): boolean => code.endsWith("_TIMEOUT");

/** Whose fault an error is, where its code or message alone says so. */
export function faultOf(code: string, message: string): "lab" | "test" | undefined {
  if (includes(labCodes, code)) return "lab";
  if (includes(testCodes, code)) return "test";
  return !includes(pageCodes, code) && labMessages.test(message) ? "lab" : undefined;
}
