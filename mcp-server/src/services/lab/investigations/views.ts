import { reportOf, restoreState, type TreeReport, type TreeResult } from "@labwright/skills";
import { z } from "zod";
import type { InvestigationStatus } from "../../../domain/index.ts";
import type { Investigation } from "../../../storage/index.ts";
import { pageOf } from "../../values/pages.ts";
import { type Judgement, judgementOf } from "./judgement.ts";
import type { TreeSkill } from "./route.ts";

const evidenceTokens = 900;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
/** What an investigation needs of its skill. It is stored with it, so that an edit of the skill changes none that is under way. */
export const definitionSchema = z.object({
  investigation: z.custom<TreeSkill["investigation"]>(isObject),
  data_sources: z.custom<NonNullable<TreeSkill["data_sources"]>>(isObject).optional(),
  timeout_seconds: z.number(),
  output_format: z.object({ fields: z.array(z.string()) }).optional(),
});
export type Definition = z.output<typeof definitionSchema>;

export const readDefinition = ({ definition }: Pick<Investigation, "definition">): Definition =>
  definitionSchema.parse(definition);

/** An investigation as its tools return it. Without an id it has not begun: `judgement` asks which skill to use. */
export type InvestigationView = {
  investigation_id?: string;
  skill_used?: string;
  status: InvestigationStatus;
  reason?: { code: string; message: string };
  current_state?: string;
  /** Without it is the result; with it everything that was found up to now. */
  handoff?: NonNullable<TreeReport["handoff"]>;
  judgement?: Judgement;
  result?: Record<string, unknown>;
  execution_id?: string;
  steps: number;
};

export function viewOf(row: Investigation, definition: Definition): InvestigationView {
  const { tree } = definition.investigation;
  const state = restoreState(tree, row.state);
  const { handoff, current_state, result } = reportOf(state);
  const asked = row.status === "waiting" || row.status === "running" ? handoff : undefined;
  const step = asked?.step ?? "";
  const judgement =
    asked &&
    judgementOf(asked, definition.investigation, {
      ...{ question: row.question, context: state.context },
      step: `${step} ${tree.steps[step]?.name ?? ""}`.trim().replaceAll("_", " "),
      results: state.results[step] ?? state.results,
    });
  return {
    investigation_id: row.id,
    skill_used: `${row.skill}@${row.skill_version}`,
    status: row.status,
    ...(isReason(row.reason) && { reason: row.reason }),
    ...(current_state !== null && { current_state }),
    ...(asked && { handoff: asked }),
    ...(judgement && { judgement }),
    ...(result && row.status === "done" && { result: resultOf(result, definition) }),
    ...(row.execution_id !== undefined && { execution_id: row.execution_id }),
    steps: row.steps,
  };
}

/** The fields of the skill's output_format; all without one. Evidence in as many tokens as a reply may take for it. */
function resultOf({ evidence, ...rest }: TreeResult, { output_format }: Definition): Record<string, unknown> {
  const lines = evidence.map(({ step, finding, confidence, explanation, impact, by, data }) => ({
    ...{ step, finding, confidence, explanation, impact, by, data },
  }));
  const isWhole = pageOf(lines, 0, evidenceTokens).items.length === lines.length;
  const result = { ...rest, evidence: isWhole ? lines : lines.map((line) => ({ ...line, data: null })) };
  if (output_format === undefined) return result;
  // A person's word is never shown as the tree's.
  const shown = [...output_format.fields, "decided_by"];
  return Object.fromEntries(Object.entries(result).filter(([name]) => shown.includes(name)));
}

const isReason = (value: unknown): value is { code: string; message: string } =>
  typeof value === "object" && value !== null && "code" in value && "message" in value;
