import { z } from "zod";
import { findingParts, type Kind, leftAloneSchema, type Work, wouldHave, wouldSchema } from "./work.ts";

const analysisSchema = z.object({
  /** One of the server's classes. */
  classification: z.string(),
  summary: z.string().trim().min(1).max(4_000),
  ...findingParts,
});
type Analysis = z.output<typeof analysisSchema>;
const judgedSchema = z.object({
  /** Of the run, and of others that it decided. */
  judgements: z.array(analysisSchema.extend({ execution_id: z.string() })),
  /** Why the run itself was not judged. */
  undecided: z.string().optional(),
  reruns_wanted: z.int().optional(),
  flaky: z.boolean().optional(),
  would: wouldSchema,
});
const findingSchema = z.union([judgedSchema, leftAloneSchema]);

/** `classified`: a person's judgement of the run. */
const run = { execution_id: z.string(), classified: z.string().optional() };
/** The record decides it, for the run and its `members`. */
const decidedSchema = analysisSchema.extend({
  ...run,
  decided: z.literal(true),
  flaky: z.boolean().optional(),
  members: z.array(z.string()).default([]),
});
/** A model may decide it, where the run's verdict allows a class. */
const undecidedSchema = z.object({
  ...{ ...run, decided: z.literal(false), kind: z.string(), name: z.string(), status: z.string() },
  summary: z.string(),
  evidence: z.array(z.string()),
  reruns_wanted: z.int().optional(),
  allowed: z.array(z.string()).default([]),
  history: z.array(z.string()).default([]),
  memory: z.array(z.string()).default([]),
});
type Undecided = z.output<typeof undecidedSchema>;
const queueSchema = z.object({
  judgements: z.array(z.discriminatedUnion("decided", [decidedSchema, undecidedSchema])),
});

/** A finished run: by the server's rules, else by a model, else undecided. One that has a judgement is left alone. */
export const judgeRun: Kind<z.output<typeof findingSchema>> = {
  schema: findingSchema,

  async find(work) {
    const [own, ...earlier] = await judgementsOf(work, work.event.execution_id ?? "");
    if (!own) return { left_alone: "It is not a run of a test." };
    if (own.classified !== undefined) return { left_alone: "It has a judgement already." };
    const { answer, ...open } = own.decided ? {} : await askModel(work, own);
    const ofModel = answer ? [{ execution_id: own.execution_id, ...answer }] : [];
    const ofRecord = [own, ...earlier].flatMap((judged) => (judged.decided ? analysesOf(judged) : []));
    const judgements = [...ofModel, ...ofRecord];
    const flaky = own.decided && own.flaky !== undefined && { flaky: own.flaky };
    const updates = judgements.map(
      (one) => `update_execution_analysis ${one.execution_id} ${one.classification}`,
    );
    return { judgements, ...open, ...flaky, ...wouldHave(work, updates) };
  },

  async write(work, finding) {
    if ("left_alone" in finding) return;
    for (const judgement of finding.judgements) {
      const [judged] = await judgementsOf(work, judgement.execution_id);
      if (judged && judged.classified === undefined)
        await work.call("update_execution_analysis", judgement, z.object({}), work.signal);
    }
    if (finding.undecided !== undefined)
      work.log({
        level: "info",
        text: `Undecided: ${finding.undecided}`,
        execution_id: work.event.execution_id,
      });
  },
};

/** The judgement of the run, then those of the earlier failures that it decides. */
async function judgementsOf({ call, signal }: Work, execution_id: string) {
  const input = { execution_id, max_tokens: 50_000 };
  return (await call("get_analysis_queue_status", input, queueSchema, signal)).judgements;
}

function analysesOf({ execution_id, members, ...judged }: z.output<typeof decidedSchema>) {
  const analysis = analysisSchema.parse(judged);
  return [execution_id, ...members].map((id) => ({ execution_id: id, ...analysis }));
}

type Asked = { answer?: Analysis; undecided?: string; reruns_wanted?: number };

async function askModel(work: Work, run: Undecided): Promise<Asked> {
  const { summary, reruns_wanted } = run;
  const open = { undecided: summary, ...(reruns_wanted !== undefined && { reruns_wanted }) };
  if (!work.ask || run.allowed.length === 0) return open;
  const asked = await work.ask({
    skill: skillFor(work, run),
    request: requestOf(run),
    schema: analysisSchema.extend({ classification: z.enum(run.allowed) }),
    describe:
      "classification, confidence from 0 to 1, summary, evidence (steps, runs by their id, artifact URIs)",
  });
  return "answer" in asked ? asked : { ...open, undecided: `inconclusive: ${asked.why} ${summary}` };
}

/** Several runs of a test are compared, one alone is looked into. */
function skillFor({ agent, trigger }: Work, { status, history }: Undecided): string {
  const compares = "detect-false-positive";
  const hasMore = status !== "passed" && history.length > 0;
  return hasMore && agent.available_skills.includes(compares) ? compares : trigger.skill;
}

const requestOf = ({
  execution_id,
  kind,
  name,
  status,
  summary,
  evidence,
  history,
  memory,
}: Undecided): string =>
  [
    `Judge execution ${execution_id} of ${kind} ${JSON.stringify(name)}, which ended ${status}.`,
    `The record alone does not decide it: ${summary}`,
    ...evidence.slice(0, 10),
    ...(history.length > 0 ? [`Other runs of it: ${history.join("; ")}`] : []),
    ...(memory.length > 0 ? [`Memory of earlier runs, as data: ${JSON.stringify(memory)}`] : []),
  ].join("\n");
