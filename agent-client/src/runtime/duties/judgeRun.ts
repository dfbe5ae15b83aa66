import { z } from "zod";
import { classifications, type Judgement, type Review, review } from "../../analysis/index.ts";
import { analysisSchema, type JudgedFinding, judgedFindingSchema } from "./findings.ts";
import { readRecord } from "./record.ts";
import { type Kind, type Work, wouldHave } from "./work.ts";

type Analysis = z.output<typeof analysisSchema>;

/** A finished run: by the rules, else by a model, else undecided. One that somebody has judged is left alone. */
export const judgeRun: Kind<JudgedFinding> = {
  schema: judgedFindingSchema,

  async find(work) {
    const { event, call, signal } = work;
    const record = readRecord(call, signal, buildOf(work));
    const run = await record.run(event.execution_id ?? "");
    if (await record.isJudged(run)) return { left_alone: "Somebody has judged it already." };
    const reviewed = await review(run, record);
    const own = await ownJudgement(work, reviewed);
    const judgements = [
      ...("undecided" in own ? [] : [{ execution_id: run.execution_id, ...own }]),
      ...reviewed.others.map(({ execution_id, judgement }) => ({ execution_id, ...analysisOf(judgement) })),
    ];
    const { judgement } = reviewed;
    return {
      judgements,
      ...("undecided" in own && own),
      ...(judgement.decided && judgement.flaky !== undefined && { flaky: judgement.flaky }),
      ...wouldHave(
        work,
        judgements.map((one) => `update_execution_analysis ${one.execution_id} ${one.classification}`),
      ),
    };
  },

  async write(work, finding) {
    if ("left_alone" in finding) return;
    const { call, signal, event } = work;
    const record = readRecord(call, signal, undefined);
    for (const judgement of finding.judgements) {
      const run = await record.run(judgement.execution_id);
      if (!(await record.isJudged(run)))
        await call("update_execution_analysis", judgement, z.object({}), signal);
    }
    if (finding.undecided !== undefined)
      work.log({ level: "info", text: `Undecided: ${finding.undecided}`, execution_id: event.execution_id });
  },
};

const buildOf = ({ event: { payload } }: Work): string | undefined =>
  typeof payload.build === "string" && payload.build !== "" ? payload.build : undefined;

type Undecided = { undecided: string; reruns_wanted?: number };

async function ownJudgement(work: Work, reviewed: Review): Promise<Analysis | Undecided> {
  const { judgement, run } = reviewed;
  if (judgement.decided) return analysisOf(judgement);
  const open = {
    undecided: judgement.summary,
    ...(judgement.reruns_wanted !== undefined && { reruns_wanted: judgement.reruns_wanted }),
  };
  if (!work.hasModel || run.status === "cancelled") return open;
  const asked = await work.ask({
    skill: skillFor(work, reviewed),
    request: requestOf(reviewed, judgement),
    schema: answerFor(run.status),
    describe:
      "classification, confidence from 0 to 1, summary, evidence (steps, runs by their id, artifact URIs)",
  });
  return "answer" in asked
    ? asked.answer
    : { ...open, undecided: `inconclusive: ${asked.why} ${open.undecided}` };
}

/** The server refuses what contradicts the verdict. */
function answerFor(status: string): z.ZodType<Analysis> {
  const wrong: ReadonlySet<string> = new Set(status === "passed" ? ["VALID_FAIL", "BUG"] : ["VALID_PASS"]);
  return analysisSchema.extend({
    classification: z
      .enum(classifications)
      .refine((given) => !wrong.has(given), `not for a run that ended ${status}`),
  });
}

/** Several runs of a test are compared, one alone is looked into. */
function skillFor({ agent, trigger }: Work, { run, history }: Review): string {
  const compares = "detect-false-positive";
  const hasMore = run.status !== "passed" && history.length > 0;
  return hasMore && agent.available_skills.includes(compares) ? compares : trigger.skill;
}

function requestOf({ run, history }: Review, { summary, evidence }: Judgement): string {
  const past = history
    .slice(0, 10)
    .map(({ execution_id, status, build }) => `${execution_id} ${status}, ${build} build`);
  return [
    `Judge execution ${run.execution_id} of ${run.kind} ${JSON.stringify(run.name)}, which ended ${run.status}.`,
    `The record alone does not decide it: ${summary}`,
    ...evidence.slice(0, 10),
    ...(past.length > 0 ? [`Other runs of it: ${past.join("; ")}`] : []),
  ].join("\n");
}

const analysisOf = ({
  classification,
  confidence,
  summary,
  evidence,
}: Review["others"][number]["judgement"]): Analysis => ({
  classification,
  confidence,
  summary: summary.slice(0, 4_000),
  evidence: evidence.slice(0, 50).map((text) => text.slice(0, 2_000)),
});
