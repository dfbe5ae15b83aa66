import type { ApiCheck, Block, FaultId } from "../../../domain/index.ts";
import type { RequestFields } from "./requests.ts";

/**
 * What a request of a generated test is for. `good`: must succeed. `invalid`: must be refused. `probe`: any reply but a
 * status 500 that is as the document says. `refused`: must not succeed, since who asks may not. `setup`: makes what the
 * others need. `rule`: of the user.
 */
export type AskKind = "good" | "invalid" | "probe" | "refused" | "setup" | "rule";

export type Ask = {
  /** The block's id in its test. */
  id: string;
  label: string;
  kind: AskKind;
  operation: string;
  /** What is varied: `body.name`, `query.limit`, `credentials`; undefined for none. */
  field?: string;
  /** What was done to the field: `missing`, `null` … */
  trial?: string;
  /** The fault that a broken check of the status or a condition means, where `kind` does not say it. */
  fault?: FaultId;
  /** Of a condition: the block of the request that it is about. The one before it where it is left out. */
  shows?: string;
  block: Block;
};

/** A request that one ask sends, before it is a block. */
export type Planned = Omit<Ask, "block" | "id"> & { request: RequestFields; checks: ApiCheck[] };
