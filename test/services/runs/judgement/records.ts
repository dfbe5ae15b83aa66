import { z } from "zod";
import { classificationSchema, type Execution, type Step } from "#mcp-server/domain/index.ts";
import { createJudgements } from "#mcp-server/services/runs/judgement/index.ts";
import type { RunRecord } from "#mcp-server/storage/index.ts";
import type { FinishedRun } from "#mcp-server/storage/rows/executionRows.ts";

/** A judgement as a host reads it. */
export const judgedSchema = z.object({
  execution_id: z.string(),
  decided: z.boolean(),
  classification: classificationSchema.optional(),
  confidence: z.number().optional(),
  summary: z.string(),
  evidence: z.array(z.string()),
  flaky: z.boolean().optional(),
  members: z.array(z.string()).default([]),
});
const wholeSchema = z.array(judgedSchema.loose());
export type Judged = z.output<typeof judgedSchema>;

/** Where made-up runs are kept, judged, and their judgements written. */
export type RunStore = {
  add(run: FinishedRun): Promise<void>;
  judge(executionId: string): Promise<Judged[]>;
  write(executionId: string, judged: Judged): Promise<void>;
};

const executionOf = ({ execution, end: { reason, ...end } }: FinishedRun): Execution => ({
  ...execution,
  ...end,
  ...(reason && { reason }),
});

/** The judgement service on runs in memory, the newest last. */
export function memoryStore(): RunStore {
  const found = new Map<string, { execution: Execution; steps: Step[] }>();
  const records = new Map<string, RunRecord>();
  const byName = new Map<string, string[]>();
  const recordsOf = (ids: readonly string[]) => ids.toReversed().flatMap((id) => records.get(id) ?? []);
  const judgements = createJudgements({
    executions: {
      async get(id) {
        const run = found.get(id);
        if (!run) throw new Error(`There is no run ${id}.`);
        return run;
      },
    },
    memory: { recall: async () => [] },
    analyses: {
      async find(id) {
        const { classification } = records.get(id) ?? {};
        return classification && { classification };
      },
    },
    records: {
      marksBefore: async () => new Map(),
      ofTest: async ({ id, name }) => recordsOf(byName.get(name) ?? []).filter((one) => one.id !== id),
      near: async (run, windowMs) =>
        recordsOf([...records.keys()].slice(-150)).filter(
          (one) =>
            one.id !== run.id &&
            (one.device === run.device || one.userinterface === run.userinterface) &&
            Math.abs(Date.parse(one.started_at) - Date.parse(run.started_at)) <= windowMs,
        ),
    },
  });
  return {
    async add(run) {
      const execution = executionOf(run);
      const steps = [...run.steps];
      const unpassed = steps.filter(({ status }) => status !== "passed");
      found.set(execution.id, { execution, steps });
      records.set(execution.id, { ...execution, unpassed });
      byName.set(execution.name, [...(byName.get(execution.name) ?? []), execution.id]);
    },
    judge: async (id) => wholeSchema.parse(await judgements.of(id)),
    async write(id, { classification }) {
      const record = records.get(id);
      if (record && classification) records.set(id, { ...record, classification });
    },
  };
}
