import type { Execution, FinalStatus } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import {
  type Analysis,
  analysisRows,
  type ExecutionFilter,
  executionSearch,
  type FoundExecution,
} from "../../../storage/index.ts";
import type { CallContext } from "../../ports.ts";
import { storableText } from "../../records/executions/storable.ts";
import { mostFitting, pageOf } from "../../values/pages.ts";
import { mapStrings } from "../../values/strings.ts";
import { contradiction } from "../judgement/contradiction.ts";
import type { JudgedRun } from "../judgement/index.ts";
import { cursorOf, placeOf } from "./cursor.ts";
import { optionalInstant } from "./instant.ts";
import type {
  AnalysisRequest,
  AnalysisView,
  QueueQuery,
  QueueView,
  ResultDependencies,
  ResultLine,
  ResultPage,
  ResultQuery,
  ResultService,
} from "./types.ts";

const queueLength = 10;

/** Finds what ran and keeps what its results were judged to be. */
export function createResults(deps: ResultDependencies): ResultService {
  return new Results(deps);
}

class Results implements ResultService {
  private readonly deps: ResultDependencies;

  constructor(deps: ResultDependencies) {
    this.deps = deps;
  }

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

/** Texts as a run's record holds them, times as the database does. */
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
