import { reportOf, restoreState, type TreeReport, type TreeResult, type TreeState } from "@labwright/skills";
import type { InvestigationStatus } from "../../../domain/index.ts";
import type { Investigation } from "../../../storage/index.ts";
import { pageOf } from "../../values/pages.ts";
import type { Definition } from "./definition.ts";
import { type Judgement, judgementOf } from "./judgement.ts";

const evidenceTokens = 900;

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
  result?: Partial<ResultView>;
  execution_id?: string;
  steps: number;
};
type ResultView = Omit<TreeResult, "evidence"> & { evidence: Evidence[] };
type Evidence = Pick<
  TreeResult["evidence"][number],
  "step" | "finding" | "confidence" | "explanation" | "impact" | "data"
>;

export function viewOf(row: Investigation, definition: Definition): InvestigationView {
  const state = restoreState(definition.tree, row.state);
  const { handoff, current_state, result } = reportOf(state);
  const isOpen = row.status === "waiting" || row.status === "running";
  return {
    investigation_id: row.id,
    skill_used: `${row.skill}@${row.skill_version}`,
    status: row.status,
    ...(isReason(row.reason) && { reason: row.reason }),
    ...(current_state !== null && { current_state }),
    ...(handoff && isOpen && questionOf(handoff, state, { row, definition })),
    ...(result && row.status === "done" && { result: resultOf(result, definition) }),
    ...(row.execution_id !== undefined && { execution_id: row.execution_id }),
    steps: row.steps,
  };
}

function questionOf(
  handoff: NonNullable<TreeReport["handoff"]>,
  { context, results }: TreeState,
  { row, definition }: { row: Investigation; definition: Definition },
): Pick<InvestigationView, "handoff" | "judgement"> {
  const step = handoff.step ?? "";
  const name = definition.tree.steps[step]?.name ?? "";
  const judgement = judgementOf(handoff, definition, {
    ...{ question: row.question, context, step: `${step} ${name}`.trim() },
    results: results[step] ?? results,
  });
  return { handoff, ...(judgement && { judgement }) };
}

/** The fields of the skill's output_format; all without one. Evidence in as many tokens as a reply may take for it. */
function resultOf({ evidence, ...rest }: TreeResult, { fields }: Definition): Partial<ResultView> {
  const lines = evidence.map(({ step, finding, confidence, explanation, impact, data }) => ({
    ...{ step, finding, confidence, data },
    ...(explanation !== undefined && { explanation }),
    ...(impact !== undefined && { impact }),
  }));
  const whole = pageOf(lines, 0, evidenceTokens).items;
  const shown =
    whole.length === lines.length ? whole : lines.map(({ data: _, ...line }) => ({ ...line, data: null }));
  const result: ResultView = { ...rest, evidence: shown };
  if (fields === undefined) return result;
  return Object.fromEntries(Object.entries(result).filter(([name]) => fields.includes(name)));
}

const isReason = (value: unknown): value is { code: string; message: string } =>
  typeof value === "object" && value !== null && "code" in value && "message" in value;
