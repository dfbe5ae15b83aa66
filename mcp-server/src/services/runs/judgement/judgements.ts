import { type Classification, classificationSchema, type ExecutionStatus } from "../../../domain/index.ts";
import type { Analysis, RunRecord, RunRecords } from "../../../storage/index.ts";
import type { ExecutionService, MemoryService } from "../../ports.ts";
import { causeOf } from "./cause.ts";
import { isFailure, type Judgement } from "./history.ts";
import { judge, windowMs } from "./judge.ts";

export type JudgedRun = Judgement & {
  execution_id: string;
  /** The judgement that it has already. */
  classified?: Classification;
  /** Where undecided: the classes that its verdict allows. */
  allowed?: Classification[];
  /** Where undecided: the newest other runs of the test, one line each. */
  history?: string[];
  /** Where undecided: what earlier executions showed of its test, app and device. It is data. */
  memory?: string[];
} & Pick<RunRecord, "kind" | "name" | "status">;

export type JudgementService = {
  /** The run first, then earlier open failures that it decides. Empty for other kinds of runs. Throws EXECUTION_NOT_FOUND. */
  of(executionId: string): Promise<JudgedRun[]>;
};

export type JudgementDependencies = {
  executions: Pick<ExecutionService, "get">;
  analyses: { find(executionId: string): Promise<Pick<Analysis, "classification"> | undefined> };
  records: RunRecords;
  memory: Pick<MemoryService, "recall">;
};

const mostEarlier = 10;

type Judged = { run: RunRecord; judgement: Judgement };

export function createJudgements({
  executions,
  analyses,
  records,
  memory,
}: JudgementDependencies): JudgementService {
  async function find(executionId: string): Promise<RunRecord> {
    const { execution, steps } = await executions.get(executionId);
    const { classification } = (await analyses.find(executionId)) ?? {};
    const unpassed = steps.filter(({ status }) => status !== "passed");
    return { ...execution, unpassed, ...(classification && { classification }) };
  }

  const near = async (run: RunRecord) => (causeOf(run) ? records.near(run, windowMs) : []);

  /** The open failures that a rerun decides, and the history with what they turned out to be. */
  async function judgeEarlier(run: RunRecord): Promise<{ earlier: Judged[]; history: RunRecord[] }> {
    const earlier: Judged[] = [];
    let history = await records.ofTest(run);
    for (const past of history.filter((one) => isOpen(one, run)).slice(0, mostEarlier)) {
      const rest = history.filter((one) => one !== past);
      const judgement = judge({ run: past, history: [run, ...rest], others: await near(past) });
      if (!judgement.decided) continue;
      earlier.push({ run: past, judgement });
      const { classification } = judgement;
      history = history.map((one) => (one === past ? { ...one, classification } : one));
    }
    return { earlier, history };
  }

  return {
    async of(executionId) {
      const run = await find(executionId);
      if (run.kind !== "testcase" && run.kind !== "script") return [];
      const { earlier, history } = await judgeEarlier(run);
      const others = (await near(run)).map((other) => history.find(({ id }) => id === other.id) ?? other);
      const judgement = judge({ run, history, others });
      const views = [{ run, judgement }, ...earlier].map((judged) => viewOf(judged, history));
      const { name: test, userinterface, device } = run;
      const known = views[0]?.allowed ? await memory.recall({ test, userinterface, device }) : [];
      return views.map((view, at) => (at === 0 && known.length > 0 ? { ...view, memory: known } : view));
    },
  };
}

const isOpen = (past: RunRecord, run: RunRecord): boolean =>
  isFailure(past) &&
  past.classification === undefined &&
  (run.build === undefined || past.build === run.build);

function viewOf({ run, judgement }: Judged, history: readonly RunRecord[]): JudgedRun {
  const { id, kind, name, status, classification } = run;
  const isForModel = !judgement.decided && (status === "passed" || isFailure(run));
  return {
    execution_id: id,
    ...{ kind, name, status },
    ...(classification && { classified: classification }),
    ...judgement,
    ...(isForModel && {
      allowed: classificationSchema.options.filter((one) => contradiction(one, status) === undefined),
      history: history.slice(0, 10).map((past) => lineOf(past, run)),
    }),
  };
}

function lineOf(past: RunRecord, run: RunRecord): string {
  const build = run.build === undefined ? "unknown" : past.build === run.build ? "same" : "other";
  return `${past.id} ${past.status}, ${build} build`;
}

/** Why this verdict cannot be classified so; undefined when it can. A pass may be a false one, by the test or the lab. */
export function contradiction(classification: Classification, status: ExecutionStatus): string | undefined {
  if (classification === "VALID_PASS" && status !== "passed")
    return `VALID_PASS says that a pass is right, but the run ended ${status}.`;
  if (status === "passed" && (classification === "VALID_FAIL" || classification === "BUG"))
    return `${classification} explains why a run did not pass, but this one passed.`;
  return undefined;
}
