import type { FinishedRun } from "../../services/index.ts";
import type { CallOutcome, CallRecord } from "./call.ts";

export type IdempotencyKey = { principal: string; key: string };
/** A call that was begun with a key. `result` is null until it ended. */
export type IdempotencyRow = { tool: string; input_hash: string; result: unknown };
export type StoredResult = { outcome: CallOutcome };

/** What a call leaves behind: its audit, its result under the key that it was begun with, and runs that ended with it. */
export type CallEnd = {
  audit: CallRecord;
  begun: { key: IdempotencyKey; result: StoredResult } | undefined;
  runs: readonly FinishedRun[];
};

/** Where calls that may change something are kept. */
export type CallStore = {
  /** Stores the row unless the key is there, and then returns what is. */
  begin(
    key: IdempotencyKey,
    row: { tool: string; input_hash: string; at: string },
  ): Promise<IdempotencyRow | undefined>;
  /** All or nothing. */
  end(end: CallEnd): Promise<void>;
};
