import { concludingLane } from "./merge.ts";
import { mainOf, openHandoff } from "./run.ts";
import type { Conclusion, Evidence, TreeReport, TreeResult, TreeState } from "./types.ts";

/** A state as people and tools read it. */
export function reportOf(state: TreeState): TreeReport {
  const { history, evidence } = state;
  const isDone = state.ended_at !== null;
  const handoff = openHandoff(state);
  const isRunning = state.lanes.some(({ status }) => status === "running");
  return {
    status: isDone ? "done" : isRunning ? "running" : "waiting",
    current_state: mainOf(state).step,
    can_resume: !isDone,
    history,
    evidence,
    ...(handoff === undefined ? {} : { handoff: questionOf(state, handoff) }),
    ...(isDone ? { result: resultOf(state) } : {}),
  };
}

function questionOf(
  state: TreeState,
  { id, trigger, step, question, options }: NonNullable<ReturnType<typeof openHandoff>>,
): NonNullable<TreeReport["handoff"]> {
  return {
    ...{ id, trigger, step, question },
    findings: state.evidence.map(findingLine),
    ...(trigger === "critical_decision" && step === null ? { conclusion: concluded(state) } : {}),
    options: options.map(({ name, title }) => ({ name, title })),
  };
}

function concluded(state: TreeState): NonNullable<NonNullable<TreeReport["handoff"]>["conclusion"]> {
  const { root_cause, confidence_score, recommended_action } = resultOf(state);
  return { root_cause, confidence_score, recommended_action };
}

const findingLine = ({ name, kind, finding, confidence, by }: Evidence): string =>
  `${name}: ${kind === "undetermined" ? "undetermined, " : ""}${finding}${confidence === null ? "" : ` (confidence ${confidence})`}${by === "person" ? ", said by a person" : ""}`;

function resultOf(state: TreeState): TreeResult {
  const { conclusion, confidence } = concludingLane(state);
  const { evidence, history, started_at, ended_at, waited_ms, settled } = state;
  const cause = conclusion?.root_cause ?? null;
  const priority = conclusion?.recommended_action?.priority;
  return {
    root_cause: cause,
    ...pick(conclusion, "explanation"),
    ...pick(conclusion, "impact"),
    ...(priority === undefined ? {} : { priority }),
    evidence,
    confidence_score: cause === null ? 0 : (confidence ?? 0),
    recommended_action: actionOf(conclusion, settled.approved),
    partial_findings: evidence.filter(({ kind }) => kind === "partial_finding").map(({ finding }) => finding),
    time_to_investigate: Math.max(0, (ended_at ?? started_at) - started_at - waited_ms) / 1_000,
    steps_completed: history.flatMap(({ from_state, decision }) => (decision === null ? [] : [from_state])),
  };
}

const pick = <Key extends "explanation" | "impact">(conclusion: Conclusion | null, key: Key) =>
  conclusion?.[key] === undefined ? {} : { [key]: conclusion[key] };

function actionOf(
  conclusion: Conclusion | null,
  approved: boolean | undefined,
): TreeResult["recommended_action"] {
  const action = conclusion?.recommended_action;
  if (action === undefined) return null;
  const { priority, ...rest } = action;
  return {
    ...rest,
    ...(priority === undefined ? {} : { priority }),
    approved: approved ?? conclusion?.approved ?? null,
  };
}
