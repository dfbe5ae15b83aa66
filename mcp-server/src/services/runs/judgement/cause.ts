import { findErrorFacts } from "../../../errors.ts";
import type { RunRecord } from "../../../storage/index.ts";
import { stepName } from "./facts.ts";

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

/** What an error says of its cause: the cause itself, only that something took too long, or nothing. */
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

/** What Chromium, Node, adb and Linux say when the network, the device or the machine is gone. */
const labMessages =
  /\bnet::ERR_(NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|CONNECTION_\w+|ADDRESS_UNREACHABLE|NETWORK_\w+|PROXY_\w+|TIMED_OUT|DNS_\w+)|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOSPC|ENOMEM|EMFILE)\b|\bdevice (offline|unauthorized|not found)\b|\bno devices\/emulators found\b|\b(browser|target|page) (has been closed|crashed)\b/i;

export const isTimeout = (code: string): boolean => code.endsWith("_TIMEOUT");

/** Their messages quote the page, and a page may say anything. */
const quotePages: ReadonlySet<string> = new Set(["VERIFICATION_FAILED", "SCRIPT_FAILED"]);

/** Whose fault an error is, where its code or message alone says so. */
export function faultOf(code: string, message: string): "lab" | "test" | undefined {
  const { fault = "app" } = findErrorFacts(code) ?? {};
  if (fault !== "app") return fault;
  return !quotePages.has(code) && labMessages.test(message) ? "lab" : undefined;
}
