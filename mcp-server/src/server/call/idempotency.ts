import { createHash } from "node:crypto";
import { ToolError } from "../../errors.ts";
import type { FinishedRun } from "../../services/index.ts";
import type { CallOutcome, CallRecord, CallRequest } from "./call.ts";

/**
 * Begins a call that runs at most once for its key. The same key with the same arguments gives the stored outcome back,
 * one that was begun and never ended gives OUTCOME_UNKNOWN, and other arguments are refused.
 */
export async function beginOnce(
  store: CallStore,
  request: CallRequest & { idempotency_key: string },
  now: number,
): Promise<{ begun: IdempotencyKey } | { before: CallOutcome }> {
  const key = { principal: request.principal, key: request.idempotency_key };
  const row = { tool: request.name, input_hash: hashOf(request), at: new Date(now).toISOString() };
  const before = await store.begin(key, row);
  return before ? { before: replay(before, row, request.idempotency_key) } : { begun: key };
}

function replay(before: IdempotencyRow, now: { tool: string; input_hash: string }, key: string): CallOutcome {
  if (before.tool !== now.tool || before.input_hash !== now.input_hash) {
    throw new ToolError(
      "INVALID_INPUT",
      `The idempotency_key ${key} was used for another call (${before.tool}).`,
      "Use a new key for a new call; a repeat must have the same tool and arguments.",
    );
  }
  if (isStored(before.result)) return before.result.outcome;
  throw new ToolError(
    "OUTCOME_UNKNOWN",
    `A ${now.tool} call with this idempotency_key was begun, and its end was never recorded.`,
    "It may still be running, or Labwright died in it. Look before you act: dump_ui_elements shows the screen, get_execution_status a run. Use a new key to do it again.",
    { idempotency_key: key },
  );
}

/** Only this file writes the column, so its shape needs no more than this. */
const isStored = (result: unknown): result is StoredResult =>
  typeof result === "object" && result !== null && "outcome" in result;

const hashOf = (request: CallRequest): string =>
  createHash("sha256")
    .update(canonical([request.name, request.arguments]))
    .digest("hex");

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

export type IdempotencyKey = { principal: string; key: string };
/** A call that was begun with a key. `result` is null until it ended. */
export type IdempotencyRow = { tool: string; input_hash: string; result: unknown };
export type StoredResult = { outcome: CallOutcome };

/** The end of a call: its audit, its result under the key that it was begun with, and runs that ended with it. */
export type CallEnd = {
  audit: CallRecord;
  begun: { key: IdempotencyKey; result: StoredResult } | undefined;
  runs: readonly FinishedRun[];
};

/** Where calls that may change something are kept. */
export type CallStore = {
  /** Stores the row, or returns the one that the key has already. */
  begin(
    key: IdempotencyKey,
    row: { tool: string; input_hash: string; at: string },
  ): Promise<IdempotencyRow | undefined>;
  /** All or nothing. */
  end(end: CallEnd): Promise<void>;
};
