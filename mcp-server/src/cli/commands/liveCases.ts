import { type CaseOutcome, type TreeCase, unasked } from "@labwright/skills";
import { z } from "zod";
import type { ToolAnswer } from "../daemon.ts";

/** What a case reads of the tools' reply. A skill's `output_format` may leave parts of the result out. */
const viewSchema = z.object({
  investigation_id: z.string(),
  status: z.string(),
  handoff: z.object({ id: z.string(), trigger: z.string(), question: z.string() }).optional(),
  result: z
    .object({
      root_cause: z.string().nullable().default(null),
      confidence_score: z.number().default(0),
      recommended_action: z.object({ action: z.string() }).nullable().default(null),
      steps_completed: z.array(z.string()).default([]),
    })
    .optional(),
});
type View = z.output<typeof viewSchema>;

type Call = (tool: string, args: Record<string, unknown>) => Promise<ToolAnswer>;

const waitMs = 120_000;

/** Runs a test case of a skill on its real sources, through the server. */
export async function runLiveCase(skill: string, given: TreeCase, call: Call): Promise<CaseOutcome> {
  const handoffs: string[] = [];
  const ask = async (tool: string, args: Record<string, unknown>): Promise<View | string> => {
    const answer = await call(tool, { ...args, wait_ms: waitMs });
    if (!answer.ok) return `${answer.error.code}: ${answer.error.message}`;
    const view = viewSchema.parse(answer.structured);
    if (view.handoff !== undefined) handoffs.push(view.handoff.trigger);
    return view;
  };
  let view = await ask("start_investigation", { skill, context: given.context });
  for (const { answer, context } of given.answers) {
    if (typeof view === "string") break;
    const { investigation_id, handoff } = view;
    view =
      handoff === undefined
        ? unasked(answer)
        : await ask("resume_investigation", { investigation_id, handoff_id: handoff.id, answer, context });
  }
  return outcomeOf(view, handoffs);
}

function outcomeOf(view: View | string, handoffs: readonly string[]): CaseOutcome {
  const { result, handoff, status } = typeof view === "string" ? { status: view } : view;
  return {
    root_cause: result?.root_cause ?? null,
    confidence: result?.confidence_score ?? 0,
    recommended_action: result?.recommended_action?.action ?? null,
    steps_completed: result?.steps_completed ?? [],
    handoffs,
    question: handoff?.question,
    problems: result === undefined && handoff === undefined ? [`it ended without a result: ${status}`] : [],
  };
}
