import {
  ask,
  askApproval,
  findingOf,
  isCritical,
  mainLane,
  mainOf,
  openHandoff,
  type Run,
  thresholdOf,
} from "./run.ts";
import type { Lane, TreeState } from "./types.ts";

/** The lanes that found a cause, the tree's own path first; one lane for each different cause. */
function causesOf({ lanes }: TreeState): Lane[] {
  const causeOf = ({ conclusion }: Lane) => conclusion?.root_cause?.trim().toLowerCase();
  return lanes.filter(
    (lane, index) =>
      causeOf(lane) !== undefined && lanes.findIndex((one) => causeOf(one) === causeOf(lane)) === index,
  );
}

/** The lane whose conclusion is the result: the only cause, the one that a person chose, or the path's own end. */
export function concludingLane(state: TreeState): Lane {
  const causes = causesOf(state);
  const { cause } = state.settled;
  const chosen = cause === undefined ? causes[0] : causes.find(({ id }) => id === cause);
  return chosen ?? mainOf(state);
}

/** Merges the paths when all have ended: ends the investigation, or asks a person. */
export function merge(run: Run): void {
  const { state } = run;
  const isAtEnd = state.lanes.every(({ step }) => step === null);
  if (!isAtEnd || openHandoff(state) !== undefined || state.ended_at !== null) return;
  if (!askAboutFindings(run)) state.ended_at = run.at;
}

function askAboutFindings(run: Run): boolean {
  const { settled } = run.state;
  const causes = causesOf(run.state);
  if (causes.length > 1 && settled.cause === undefined) return askWhichCause(run, causes);
  if (settled.stopped) return false;
  const { id, conclusion, confidence } = concludingLane(run.state);
  const cause = conclusion?.root_cause;
  const action = conclusion?.recommended_action;
  if (conclusion === null || (!cause && !action)) {
    ask(run, "stuck_after_steps", null, "The tree ended without a cause.", []);
    return true;
  }
  if (id !== mainLane && (confidence ?? 0) < thresholdOf(run.tree) && !settled.accepted) {
    const reason = `Only ${id} found a cause: ${cause}, with a confidence of only ${confidence}.`;
    ask(run, "low_confidence", null, reason, [
      { name: "accept", title: "Take it as found", effect: { do: "accept" } },
    ]);
    return true;
  }
  if (!isCritical(run.tree, action) || settled.approved !== undefined) return false;
  const found = `Found: ${findingOf(conclusion)}`;
  askApproval(run, null, found, action.action, (approved) => ({ do: "approve", approved }));
  return true;
}

function askWhichCause(run: Run, causes: readonly Lane[]): boolean {
  const found = causes.map(({ id, conclusion }) => `${id} found "${conclusion?.root_cause}"`).join(", ");
  const options = causes.map(({ id, conclusion }) => ({
    name: id,
    title: `Take as the cause: ${conclusion?.root_cause}`,
    effect: { do: "cause" as const, lane: id },
  }));
  ask(run, "contradictory_data", null, `The parallel paths end in different causes: ${found}.`, options);
  return true;
}
