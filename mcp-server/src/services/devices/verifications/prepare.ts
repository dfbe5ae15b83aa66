import type { DeviceError, Frame } from "@labwright/controllers";
import type { Params, Verdict, Verification } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { CheckInfo, OfferingDevice, Secrets } from "../../ports.ts";
import { withPlainNumbers } from "../../values/exactNumbers.ts";
import { fittingParams, inputProblems } from "../../values/inputProblems.ts";
import { resolveValues } from "../../values/values.ts";
import { checksAs, checksOf, notOffered } from "../findCommand.ts";

/** A check that is being polled: `open` until it holds or its time is over. */
export type Watched = {
  asked: Verification;
  offered: CheckInfo;
  params: Params;
  timeoutMs: number;
  verdict: Verdict;
  open: boolean;
  /** There is a reading. */
  wasRead: boolean;
  unread?: DeviceError | undefined;
  /** The last try found nothing to read: the page may only be late. */
  isAbsent?: boolean;
  pictures?: readonly Frame[];
};

/** Finds each check and judges its parameters before any look. Nothing to check is an error, never a pass. */
export function prepareChecks(
  device: OfferingDevice,
  checks: readonly Verification[],
  { variables, timeoutMs, secrets }: { variables: Params | undefined; timeoutMs: number; secrets: Secrets },
): Watched[] {
  if (checks.length === 0) {
    throw new ToolError(
      "INVALID_INPUT",
      "There is nothing to check.",
      "Give at least one check; list_verifications shows them.",
    );
  }
  const problems: string[] = [];
  const watched = checks.map((asked, index) => {
    const offered = find(device, asked);
    const { input } = offered.check;
    const fitting = fittingParams(input, asked.params);
    const params = variables ? withPlainNumbers(resolveValues(fitting, variables)) : fitting;
    secrets.check(params);
    problems.push(...inputProblems(input, params, `checks[${index}] ${asked.command}`));
    const verdict = unseen(asked.command, offered.check.description);
    return {
      asked,
      offered,
      params,
      timeoutMs: asked.timeout_ms ?? timeoutMs,
      verdict,
      open: true,
      wasRead: false,
    };
  });
  if (problems.length === 0) return watched;
  throw new ToolError(
    "INVALID_INPUT",
    problems.join("; "),
    "list_verifications shows what each check takes.",
    { problems },
  );
}

function unseen(command: string, expected: string): Verdict {
  const none = { attempts: 0, elapsed_ms: 0, nearest: [], evidence: [] };
  return { command, pass: false, expected, actual: "not looked at", ...none };
}

function find(device: OfferingDevice, { command: name, type }: Verification): CheckInfo {
  const checks = checksOf(device).filter(({ source }) => checksAs(source, type));
  const found = checks.find(({ check }) => check.name === name);
  if (found) return found;
  const names = checks.map(({ check }) => check.name);
  throw notOffered(device, { wanted: name, names, what: "check", type });
}
