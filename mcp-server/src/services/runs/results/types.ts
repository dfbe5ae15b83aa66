import type { Classification, ExecutionStatus } from "../../../domain/index.ts";
import type { AwaitingExecution, Database, ExecutionFilter, FoundExecution } from "../../../storage/index.ts";
import type { CallContext, Clock, EventInput, ExecutionService, Secrets } from "../../ports.ts";
import type { JudgedRun, JudgementService } from "../judgement/index.ts";

/** `since` and `until` are ISO dates or times; `before` is the `next` of another page. */
export type ResultQuery = ExecutionFilter & { before?: string | undefined; maxTokens: number };

/** `reason` is the code only. */
export type ResultLine = Omit<FoundExecution, "reason"> & { reason?: string };

/** `counts` is over the whole filter, `more` what is left behind this page, `next` the cursor to get it with. */
export type ResultPage = {
  executions: ResultLine[];
  counts: Partial<Record<ExecutionStatus | "flaky", number>>;
  more: number;
  next?: string;
};

export type AnalysisRequest = {
  execution_id: string;
  classification: Classification;
  /** 0..1 */
  confidence: number;
  summary: string;
  evidence: readonly string[];
};

/** `before` is what it was classified as until now. */
export type AnalysisView = {
  execution_id: string;
  name: string;
  status: ExecutionStatus;
  classification: Classification;
  before?: Classification;
};

export type QueueView = {
  awaiting: number;
  oldest?: AwaitingExecution;
  /** At most ten ids. */
  next: string[];
  classified: Partial<Record<Classification, number>>;
  /** Of `next`, as far as they fit; of one run, its own and those of the earlier failures that it decides. */
  judgements: JudgedRun[];
};

/** `since` bounds the end of the runs that are counted; `execution_id` is the one run to judge. */
export type QueueQuery = {
  since?: string | undefined;
  execution_id?: string | undefined;
  maxTokens: number;
};

export type ResultService = {
  /** Newest first; throws INVALID_INPUT for a time or a cursor that is none. */
  search(query: ResultQuery): Promise<ResultPage>;
  /**
   * Stores a judgement in place of an earlier one, with its event; the same once more changes nothing. Throws
   * EXECUTION_NOT_FOUND, INVALID_INPUT for a run that has not ended or a verdict that says otherwise.
   */
  analyze(request: AnalysisRequest, context: CallContext): Promise<AnalysisView>;
  /** Finished test cases and scripts. Throws EXECUTION_NOT_FOUND. */
  queue(query: QueueQuery): Promise<QueueView>;
};

export type ResultDependencies = {
  db: Database;
  executions: Pick<ExecutionService, "get">;
  judgements: JudgementService;
  /** Appends inside the transaction that stores the analysis. */
  events: { append(tx: Database, event: EventInput): Promise<unknown> };
  secrets: Secrets;
  clock: Clock;
};
