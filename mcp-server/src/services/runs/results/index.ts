import type { Classification, Execution, ExecutionStatus, FinalStatus } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import {
  type Analysis,
  type AwaitingExecution,
  analysisRows,
  type Database,
  type ExecutionFilter,
  type ExecutionPlace,
  executionSearch,
  type FoundExecution,
} from "../../../storage/index.ts";
import type { CallContext, Clock, EventInput, ExecutionService, Secrets } from "../../ports.ts";
import { storableText } from "../../records/executions/storable.ts";
import { mostFitting, pageOf } from "../../values/pages.ts";
import { mapStrings } from "../../values/strings.ts";
import type { JudgedRun, JudgementService } from "../judgement/index.ts";
import { contradiction } from "../judgement/judgements.ts";
import { optionalInstant } from "./instant.ts";

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
  /** The latest runs that have a report to read: tests, scripts, plans and validations that ended, newest first. */
  latest(count: number): Promise<ResultLine[]>;
  /** Replaces an earlier judgement. Throws EXECUTION_NOT_FOUND, INVALID_INPUT (not ended, or the verdict contradicts it). */
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

const queueLength = 10;

export const createResults = (deps: ResultDependencies): ResultService => new Results(deps);

class Results implements ResultService {
  constructor(private readonly deps: ResultDependencies) {}

  async search({ before, maxTokens, ...given }: ResultQuery): Promise<ResultPage> {
    const filter = storedFilter(given);
    const after = before === undefined ? undefined : placeOf(before);
    const search = executionSearch(this.deps.db);
    const { found, left } = await search.page(filter, { after, limit: mostFitting(maxTokens) });
    const { items: shown } = pageOf(found.map(lineOf), 0, maxTokens);
    const last = shown.at(-1);
    const more = left - shown.length;
    return {
      executions: shown,
      counts: await search.countByStatus(filter),
      more,
      ...(more > 0 && last && { next: cursorOf(last) }),
    };
  }

  async latest(count: number): Promise<ResultLine[]> {
    const kinds = ["testcase", "script", "plan", "api", "validation"] as const;
    const { found } = await executionSearch(this.deps.db).page({ kinds, ended: true }, { limit: count });
    return found.map(lineOf);
  }

  async analyze(request: AnalysisRequest, context: CallContext): Promise<AnalysisView> {
    const { db, executions, events, secrets, clock } = this.deps;
    const { execution } = await executions.get(storableText(request.execution_id));
    checkJudgement(request, execution);
    const analysis: Analysis = {
      execution_id: execution.id,
      classification: request.classification,
      confidence: request.confidence,
      summary: secrets.mask(storableText(request.summary)),
      evidence: request.evidence.map((text) => secrets.mask(storableText(text))),
      analyzed_by: context.principal,
      at: new Date(clock.now()).toISOString(),
    };
    const before = await db.transaction(async (tx) => {
      const rows = analysisRows(tx);
      await rows.lock(execution.id);
      const earlier = (await rows.find(execution.id))?.classification;
      if (await rows.put(analysis)) await events.append(tx, analyzed(execution, analysis, earlier));
      return earlier;
    });
    return {
      execution_id: execution.id,
      name: execution.name,
      status: execution.status,
      classification: analysis.classification,
      ...(before && { before }),
    };
  }

  async queue({ since: given, execution_id, maxTokens }: QueueQuery): Promise<QueueView> {
    const since = optionalInstant("since", given);
    const rows = analysisRows(this.deps.db);
    const { awaiting, classified } = await rows.countByClass(since);
    const oldest = await rows.oldestAwaiting(since);
    const next = await rows.nextAwaiting(queueLength, since);
    const judged = execution_id === undefined ? await this.judgeEach(next) : await this.judge(execution_id);
    const { items: judgements } = pageOf(judged, 0, maxTokens);
    return { awaiting, ...(oldest && { oldest }), next, classified, judgements };
  }

  private judge(executionId: string): Promise<JudgedRun[]> {
    return this.deps.judgements.of(storableText(executionId));
  }

  private async judgeEach(executionIds: readonly string[]): Promise<JudgedRun[]> {
    const judged: JudgedRun[] = [];
    for (const id of executionIds) judged.push(...(await this.judge(id)).slice(0, 1));
    return judged;
  }
}

function storedFilter(given: ExecutionFilter): ExecutionFilter {
  return {
    ...mapStrings(given, storableText),
    since: optionalInstant("since", given.since),
    until: optionalInstant("until", given.until),
  };
}

function lineOf({ reason, ...found }: FoundExecution): ResultLine {
  return { ...found, ...(reason && { reason: reason.code }) };
}

/** Throws INVALID_INPUT for a run that has not ended, and for a verdict that says otherwise. */
function checkJudgement({ classification }: AnalysisRequest, { id, status }: Execution): void {
  if (status === "queued" || status === "running") {
    throw new ToolError(
      "INVALID_INPUT",
      `Execution ${id} is ${status}: there is no result to judge yet.`,
      "Wait for its end with get_execution_status and wait_ms, or stop it with cancel_execution.",
      { status },
    );
  }
  const problem = contradiction(classification, status);
  if (problem === undefined) return;
  throw new ToolError("INVALID_INPUT", problem, hintFor(status), { status });
}

const hintFor = (status: FinalStatus): string =>
  status === "passed"
    ? "Use VALID_PASS, or SCRIPT_ISSUE or SYSTEM_ISSUE for a pass that should not have been one."
    : "Use VALID_FAIL, BUG, SCRIPT_ISSUE or SYSTEM_ISSUE.";

const analyzed = (execution: Execution, analysis: Analysis, before: string | undefined) => ({
  type: "execution.analyzed",
  priority: "normal" as const,
  source: "results",
  ...(execution.device !== undefined && { device_id: execution.device }),
  execution_id: execution.id,
  payload: {
    name: execution.name,
    status: execution.status,
    classification: analysis.classification,
    confidence: analysis.confidence,
    summary: analysis.summary,
    analyzed_by: analysis.analyzed_by,
    ...(before !== undefined && { before }),
  },
});

/** A page's last run as a short text: its start in milliseconds, base 36, and its id. */
export function cursorOf({ started_at, execution_id }: ExecutionPlace): string {
  return `${Date.parse(started_at).toString(36)}-${execution_id}`;
}

/** Throws INVALID_INPUT for what {@link cursorOf} does not make. */
export function placeOf(cursor: string): ExecutionPlace {
  const [, time, id] = /^([0-9a-z]{1,9})-([\w-]{1,100})$/.exec(cursor) ?? [];
  if (time === undefined || id === undefined) {
    throw new ToolError(
      "INVALID_INPUT",
      `before: "${cursor.slice(0, 100)}" is not a cursor.`,
      "Give the next of the page before, or leave it out for the newest.",
    );
  }
  return { started_at: new Date(Number.parseInt(time, 36)).toISOString(), execution_id: id };
}
