import { faultOf, isTimeout } from "./faults.ts";
import type { Cause, FinishedRun, RunStep } from "./types.ts";

const longest = 300;
const passing: ReadonlySet<string> = new Set(["passed", "skipped"]);

/** What a run failed with: its last failed step, or its reason. Undefined for one that passed or tells nothing. */
export function causeOf(run: FinishedRun): Cause | undefined {
  if (run.status === "passed") return undefined;
  const failed = run.steps.filter(({ status }) => !passing.has(status));
  const lab = failed.find((step) => faultIn(step) === "lab");
  const last = failed.at(-1);
  const told = lab ?? last;
  const { code, message } = (told && errorOf(told)) ?? run.reason ?? { code: "", message: "" };
  const fault = (run.reason && faultOf(run.reason.code, run.reason.message)) ?? faultOf(code, message);
  if (code === "" && fault === undefined) return undefined;
  return { code, text: comparable(code, message), step: told?.step ?? "", ...(fault && { fault }) };
}

/**
 * How much an error says of its cause: a name of what was missed; only that something took too long; nothing, so that two
 * alike need not be of one cause.
 */
export function says({ code, text }: Cause): "cause" | "slowness" | "nothing" {
  const message = text.slice(code.length + 2);
  if (isTimeout(code)) return quoted.test(message) ? "cause" : "slowness";
  if (code === "SCRIPT_FAILED") return quoted.test(message) ? "cause" : "nothing";
  return message.replace(/^expected /, "").length >= fewestLetters ? "cause" : "nothing";
}

const quoted = /["`][^"`]+["`]/;
/** An expectation such as `true` or `12` is many a test's. */
const fewestLetters = 10;

const faultIn = (step: RunStep) => {
  const error = errorOf(step);
  return error && faultOf(error.code, error.message);
};

function errorOf({ error }: RunStep): { code: string; message: string } | undefined {
  if (error === undefined) return undefined;
  const [, code, message] = /^([A-Z][A-Z_]*): ([\s\S]*)$/.exec(error) ?? [];
  return { code: code ?? "", message: message ?? error };
}

/** Without ids, numbers, times, refs and what a failed check saw instead: those differ though the cause is one. */
function comparable(code: string, message: string): string {
  // What was expected is the test's own and stays the same.
  if (code === "VERIFICATION_FAILED") return shown(code, message.replace(/[;,.] found\b[\s\S]*$/i, ""));
  const plain = message
    .replace(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, "<id>")
    .replace(/\b(?=[a-f]*\d)[\da-f]{8,}\b/gi, "<id>");
  // A number within quotes is part of a name, unless it is a long one.
  const parts = plain.split(/("[^"]*"|`[^`]*`)/);
  const numbered = parts.map((part, i) => part.replace(i % 2 === 1 ? /\d{4,}/g : /\d+/g, "0"));
  return shown(code, numbered.join(""));
}

const shown = (code: string, text: string): string =>
  `${code}: ${text.replace(/\s+/g, " ").trim().toLowerCase().slice(0, longest)}`;
