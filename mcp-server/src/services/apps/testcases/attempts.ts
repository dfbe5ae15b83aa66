import type { Attempt, FinalStatus, RetryOn, TestCaseInput } from "../../../domain/index.ts";
import type { Run } from "../../ports.ts";
import type { ExecuteRequest, TestcaseDependencies } from "./types.ts";

export type AttemptEnd = { status: FinalStatus; reason?: { code: string; message: string } };

/** The first attempt has no prefix, so that a step has the same path in all runs. */
const prefixOf = (number: number): string => (number === 1 ? "" : `attempt${number}/`);

/** Every attempt is kept; the last decides. A pass after an attempt that did not pass is `flaky`. */
export async function inAttempts<End extends AttemptEnd>(
  run: Run,
  { retries, retryOn }: { retries: number; retryOn: RetryOn },
  deps: Pick<TestcaseDependencies, "clock" | "devices">,
  attempt: (run: Run, prefix: string) => Promise<End>,
): Promise<{ end: End; attempts: Attempt[]; flaky: boolean }> {
  const attempts: Attempt[] = [];
  let current = run;
  for (let number = 1; ; number++) {
    const started = deps.clock.monotonic();
    const end = await attempt(current, prefixOf(number));
    const { status, reason } = end;
    const duration_ms = Math.max(0, Math.round(deps.clock.monotonic() - started));
    attempts.push({ id: `${run.id}.${number}`, status, ...(reason && { reason }), duration_ms });
    if (run.signal.aborted || number > retries || !isWorthAnother(status, retryOn)) {
      return { end, attempts, flaky: status === "passed" && number > 1 };
    }
    run.context.progress(0, undefined, `attempt ${number} ended ${status}; one more`);
    // A device that was lost is opened again. One that does not open fails the attempt, with its own error.
    const device = await deps.devices.open(run.device, run.signal).catch(() => run.device);
    const { fence, pauseMs } = run.device;
    current = { ...run, device: { ...device, ...(fence !== undefined && { fence }), pauseMs } };
  }
}

const isWorthAnother = (status: FinalStatus, retryOn: RetryOn): boolean =>
  status === "error" || (status === "failed" && retryOn === "any");

/** The call's rule, else the test case's; failures are retried unless one of them says `error`. */
export const retryRule = (testcase: TestCaseInput, request: ExecuteRequest) => ({
  retries: request.retries ?? testcase.retries ?? 0,
  retryOn: request.retry_on ?? testcase.retry_on ?? ("any" as const),
});
