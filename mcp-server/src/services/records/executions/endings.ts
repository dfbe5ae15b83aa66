import type { FinalStatus, Params } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { storageFailure } from "../../../storage/engine/failure.ts";
import type { Reason } from "./types.ts";

/** What the code of a run gave back. */
export type BodyResult<Output> = {
  status: FinalStatus;
  reason?: Reason;
  outputs?: Params;
  output: Output;
};

export type Outcome<Output> = { ok: true; result: BodyResult<Output> } | { ok: false; error: unknown };

/** How a run ends. An abort decides over whatever the code made of it: a run that was stopped has no verdict. */
export function endingOf<Output>(
  outcome: Outcome<Output> | undefined,
  signal: AbortSignal,
): { status: FinalStatus; reason?: Reason } {
  if (signal.aborted) return abortEnding(signal.reason);
  if (!outcome) return { status: "error", reason: reasonOf(undefined) };
  if (!outcome.ok) return { status: "error", reason: reasonOf(outcome.error) };
  const { status, reason } = outcome.result;
  return { status, ...(reason && { reason }) };
}

/** `timeout` for a run over its time, `cancelled` for one that somebody stopped, else `error` (a lost lease). */
export function abortEnding(reason: unknown): { status: FinalStatus; reason: Reason } {
  const found = reasonOf(reason);
  if (found.code === "EXECUTION_TIMEOUT") return { status: "timeout", reason: found };
  if (found.code === "CANCELLED") return { status: "cancelled", reason: found };
  return { status: "error", reason: found };
}

/** Code and sentence of any error; INTERNAL for one without a code. */
export function reasonOf(error: unknown): Reason {
  const known = error instanceof ToolError ? error : storageFailure(error);
  if (known) return { code: known.code, message: `${known.message} ${known.hint}`.trim() };
  if (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    /^[A-Z_]+$/.test(error.code)
  ) {
    return { code: error.code, message: error.message };
  }
  if (error instanceof Error && error.name === "AbortError")
    return { code: "CANCELLED", message: "Cancelled." };
  return {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : "The run ended without a result.",
  };
}

export const cancelledBy = (by: string) =>
  new ToolError("CANCELLED", `Cancelled by ${by}.`, "Run it again when you are ready.");

export const timedOut = (timeoutMs: number) =>
  new ToolError(
    "EXECUTION_TIMEOUT",
    `The run took longer than its ${timeoutMs} ms.`,
    "Give a larger timeout_ms, or look at the last step for what it waited for.",
  );
