import type { ErrorCode } from "../../errors.ts";
import type { RunRecord } from "../../storage/index.ts";
import { stepName } from "../reports/facts.ts";

/** What a run failed with. */
export type Cause = {
  code: string;
  /** Code and message without what differs from run to run: equal for two failures of one cause. */
  text: string;
  /** Where it failed; empty when no step did. */
  step: string;
  /** Whose fault it is, where the code or message alone says so. */
  fault?: "lab" | "test";
};

const longest = 300;

/** A run's cause: a step that failed by the lab, else the last failed step, else its reason. Undefined for a pass. */
export function causeOf({ status, reason, unpassed }: RunRecord): Cause | undefined {
  if (status === "passed") return undefined;
  const failed = unpassed.filter((step) => step.status !== "skipped");
  const faultIn = (error: RunRecord["reason"]) => error && faultOf(error.code, error.message);
  const step = failed.find(({ error }) => faultIn(error) === "lab") ?? failed.at(-1);
  const error = step?.error ?? reason;
  if (!error) return undefined;
  const fault = faultIn(reason) ?? faultIn(error);
  const { code, message } = error;
  return { code, text: comparable(code, message), step: step ? stepName(step) : "", ...(fault && { fault }) };
}

const quoted = /["`][^"`]+["`]/;
/** A shorter expectation, such as `true` or `12`, is the same in many tests. */
const fewestLetters = 10;

/** What an error tells of its cause: the cause itself, only that something took too long, or nothing. */
export function says({ code, text }: Cause): "cause" | "slowness" | "nothing" {
  const message = text.slice(code.length + 2);
  if (isTimeout(code)) return quoted.test(message) ? "cause" : "slowness";
  if (code === "SCRIPT_FAILED") return quoted.test(message) ? "cause" : "nothing";
  return message.replace(/^expected /, "").length >= fewestLetters ? "cause" : "nothing";
}

/** Without ids, numbers, times, refs, and what a failed check found instead. */
function comparable(code: string, message: string): string {
  const shown = (text: string) =>
    `${code}: ${text.replace(/\s+/g, " ").trim().toLowerCase().slice(0, longest)}`;
  // What was expected belongs to the test and stays the same.
  if (code === "VERIFICATION_FAILED") return shown(message.replace(/[;,.] found\b[\s\S]*$/i, ""));
  const withoutIds = message
    .replace(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, "<id>")
    .replace(/\b(?=[a-f]*\d)[\da-f]{8,}\b/gi, "<id>");
  // A short number within quotes is part of a name.
  const parts = withoutIds.split(/("[^"]*"|`[^`]*`)/);
  return shown(parts.map((part, i) => part.replace(i % 2 === 1 ? /\d{4,}/g : /\d+/g, "0")).join(""));
}

/** The device, the lab or the server failed. */
const labCodes: readonly string[] = [
  "APP_UNREACHABLE",
  "ARTIFACT_STORE_FULL",
  "BROWSER_NOT_FOUND",
  "BROWSER_UNUSABLE",
  "CONNECTION_REFUSED",
  "CONTROLLER_UNAVAILABLE",
  "DAEMON_UNAVAILABLE",
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
const testCodes: readonly string[] = [
  "ACTION_NOT_FOUND",
  "DEVICE_AMBIGUOUS",
  "EDGE_NOT_FOUND",
  "EMPTY_TEST",
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
const pageCodes: readonly string[] = ["VERIFICATION_FAILED", "SCRIPT_FAILED"] satisfies ErrorCode[];

/** What Chromium, Node, adb and Linux say when the network, the device or the machine is gone. */
const labMessages =
  /\bnet::ERR_(NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|CONNECTION_\w+|ADDRESS_UNREACHABLE|NETWORK_\w+|PROXY_\w+|TIMED_OUT|DNS_\w+)|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOSPC|ENOMEM|EMFILE)\b|\bdevice (offline|unauthorized|not found)\b|\bno devices\/emulators found\b|\b(browser|target|page) (has been closed|crashed)\b/i;

export const isTimeout = (code: string): boolean => code.endsWith("_TIMEOUT");

/** Whose fault an error is, where its code or message alone says so. */
export function faultOf(code: string, message: string): "lab" | "test" | undefined {
  if (labCodes.includes(code)) return "lab";
  if (testCodes.includes(code)) return "test";
  return !pageCodes.includes(code) && labMessages.test(message) ? "lab" : undefined;
}
