import {
  type Asked,
  ask,
  isCritical,
  mainLane,
  mainOf,
  openHandoff,
  otherSteps,
  type Run,
  stopOption,
  thresholdOf,
} from "./run.ts";
import type { Lane, TreeState } from "./types.ts";

const folded = (cause: string): string => cause.trim().toLowerCase();

/** The lanes that found a cause, the tree's own path first; one lane for each different cause. */
function causesOf({ lanes }: TreeState): Lane[] {
  const found = lanes.filter(({ conclusion }) => conclusion?.root_cause);
  const causes = found.map(({ conclusion }) => folded(conclusion?.root_cause ?? ""));
  return found.filter((_, index) => causes.indexOf(causes[index] ?? "") === index);
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
  const isAtEnd = state.lanes.every(({ status }) => status === "ended");
  if (!isAtEnd || openHandoff(state) !== undefined || state.ended_at !== null) return;
  if (!askAboutFindings(run)) state.ended_at = run.at;
}

function askAboutFindings(run: Run): boolean {
  const { settled } = run.state;
  const causes = causesOf(run.state);
  if (causes.length > 1 && settled.cause === undefined) return askWhichCause(run, causes);
  const lane = concludingLane(run.state);
  const { conclusion } = lane;
  const isOpen = !conclusion?.root_cause && !conclusion?.recommended_action;
  if (isOpen && !settled.stopped) {
    ask(run, "stuck_after_steps", null, "The tree ended without a cause.", [...otherSteps(run), stopOption]);
    return true;
  }
  const isUnsure = lane.id !== mainLane && (lane.confidence ?? 0) < thresholdOf(run.tree);
  if (isUnsure && !settled.accepted) return askAboutCheck(run, lane);
  const isCriticalNow = isCritical(run.tree, conclusion?.recommended_action) && !settled.stopped;
  return isCriticalNow && settled.approved === undefined && askApproval(run, lane);
}

function askWhichCause(run: Run, causes: readonly Lane[]): boolean {
  const found = causes.map(({ id, conclusion }) => `${id} found "${conclusion?.root_cause}"`).join(", ");
  ask(run, "contradictory_data", null, `The parallel paths end in different causes: ${found}.`, [
    ...causes.map(
      ({ id, conclusion }): Asked => ({
        name: id,
        title: `Take as the cause: ${conclusion?.root_cause}`,
        effect: { do: "cause", lane: id },
      }),
    ),
    ...otherSteps(run),
    stopOption,
  ]);
  return true;
}

function askAboutCheck(run: Run, { id, conclusion, confidence }: Lane): boolean {
  const reason = `Only ${id} found a cause: ${conclusion?.root_cause}, with a confidence of only ${confidence}.`;
  const accept: Asked = { name: "accept", title: "Take it as found", effect: { do: "accept" } };
  ask(run, "low_confidence", null, reason, [accept, ...otherSteps(run), stopOption]);
  return true;
}

function askApproval(run: Run, { conclusion }: Lane): boolean {
  const action = conclusion?.recommended_action?.action;
  const found = conclusion?.root_cause ?? conclusion?.partial_finding;
  ask(run, "critical_decision", null, `Found: ${found}. Recommended: ${action}.`, [
    { name: "approve", title: `Approve ${action}`, effect: { do: "approve", approved: true } },
    { name: "reject", title: "Do not", effect: { do: "approve", approved: false } },
  ]);
  return true;
}
