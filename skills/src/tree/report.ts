import { concludingLane } from "./merge.ts";
import { mainOf, openHandoff } from "./run.ts";
import type { Evidence, Handoff, TreeState } from "./types.ts";

export type TreeReport = ReturnType<typeof reportOf>;
export type TreeResult = ReturnType<typeof resultOf>;

/** A state as people and tools read it. `result`: only when done. */
export function reportOf(state: TreeState) {
  const { history, evidence } = state;
  const isDone = state.ended_at !== null;
  const handoff = openHandoff(state);
  const isRunning = state.lanes.some(({ action }) => action !== null);
  const status: "running" | "waiting" | "done" = isDone ? "done" : isRunning ? "running" : "waiting";
  return {
    status,
    current_state: mainOf(state).step,
    can_resume: !isDone,
    history,
    evidence,
    handoff: handoff && questionOf(state, handoff),
    result: isDone ? resultOf(state) : undefined,
  };
}

/**
 * The question that waits for a person, with what was found up to now. `conclusion`: what would be the result, when all paths ended
 * and a critical action waits for approval.
 */
function questionOf(state: TreeState, { id, trigger, step, question, options }: Handoff) {
  const { root_cause, confidence_score, recommended_action } = resultOf(state);
  const isLast = trigger === "critical_decision" && step === null;
  return {
    ...{ id, trigger, step, question },
    findings: state.evidence.map(findingLine),
    conclusion: isLast ? { root_cause, confidence_score, recommended_action } : undefined,
    options: options.map(({ name, title }) => ({ name, title })),
  };
}

const findingLine = ({ name, kind, finding, confidence, by }: Evidence): string =>
  `${name}: ${kind === "undetermined" ? "undetermined, " : ""}${finding}${confidence === null ? "" : ` (confidence ${confidence})`}${by === "person" ? ", said by a person" : ""}`;

function resultOf(state: TreeState) {
  const { conclusion, confidence } = concludingLane(state);
  const { evidence, history, started_at, ended_at, waited_ms, settled } = state;
  const cause = conclusion?.root_cause ?? null;
  const action = conclusion?.recommended_action;
  return {
    /** Null when the cause was not found. */
    root_cause: cause,
    explanation: conclusion?.explanation,
    impact: conclusion?.impact,
    priority: action?.priority,
    evidence,
    /** 0 to 1: the lowest on the path to the cause; 0 without a cause. */
    confidence_score: cause === null ? 0 : (confidence ?? 0),
    /** Who says so: the last decision of the path was the tree's or a person's. */
    decided_by: conclusion?.by ?? "tree",
    /** `approved`: null when no approval was needed. */
    recommended_action: action
      ? { ...action, approved: settled.approved ?? conclusion?.approved ?? null }
      : null,
    partial_findings: evidence.filter(({ kind }) => kind === "partial_finding").map(({ finding }) => finding),
    /** Seconds, without the time spent waiting for a person. */
    time_to_investigate: Math.max(0, (ended_at ?? started_at) - started_at - waited_ms) / 1_000,
    /** Steps in the order in which they ended; one that ran twice is there twice. */
    steps_completed: history.flatMap(({ from_state, decision }) => (decision === null ? [] : [from_state])),
  };
}
