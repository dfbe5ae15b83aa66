import { isDeepStrictEqual } from "node:util";
import { fillAction } from "./fill.ts";
import { NoValue } from "./placeholders.ts";
import { sampleOf, shapeResult } from "./results.ts";
import {
  addEvidence,
  ask,
  askApproval,
  decisionOptions,
  findingOf,
  isCritical,
  mainLane,
  maxVisits,
  type Run,
  scopeOf,
  stepOf,
  thresholdOf,
} from "./run.ts";
import type { Decision, TreeStep } from "./schema.ts";
import type { ActionResult, Conclusion, FilledAction, Handoff, Lane, TreeState } from "./types.ts";

/** Goes to a step: its action is given out when its pre-conditions hold and all its values are there. */
export function enter(run: Run, lane: Lane, name: string): void {
  Object.assign(lane, { step: name, action: null });
  const action = plan(run, stepOf(run.tree, name));
  if (Array.isArray(action)) {
    undetermined(run, lane, action);
    return;
  }
  lane.action = action;
  lane.visits[name] = (lane.visits[name] ?? 0) + 1;
}

/** The action of a step, or why it cannot run. */
function plan({ tree, state, evaluate, at }: Run, step: TreeStep): FilledAction | string[] {
  const scope = scopeOf(state);
  const reasons = step.pre_conditions.flatMap((condition) => {
    const holds = evaluate(condition, scope);
    if (holds === true) return [];
    return holds === false
      ? `${condition} does not hold`
      : `${condition} cannot be determined: ${holds.undetermined}`;
  });
  if (reasons.length > 0) return reasons;
  try {
    return fillAction(step.action, tree, scope, at);
  } catch (error) {
    if (error instanceof NoValue) return [error.message];
    throw error;
  }
}

/** Judges the result of the step that runs on a lane. */
export function takeResult(run: Run, lane: Lane, result: ActionResult): void {
  const name = lane.step ?? "";
  const step = stepOf(run.tree, name);
  lane.action = null;
  lane.steps_since += 1;
  if ("error" in result) {
    // What an earlier run of the step found is no longer sure.
    delete run.state.results[name];
    undetermined(run, lane, [`${result.error.code}: ${result.error.message}`]);
    return;
  }
  const { value, gaps } = shapeResult(result);
  run.state.results[name] = value;
  const scope = { ...scopeOf(run.state), result: value };
  const judged = Object.entries(step.decisions).map(([decision, { condition }]) => ({
    decision,
    holds: run.evaluate(condition, scope),
  }));
  const holding = judged.flatMap(({ decision, holds }) => (holds === true ? decision : []));
  if (holding.length > 0) {
    takeHolding(run, lane, step, holding);
    return;
  }
  const reasons = judged.flatMap(({ decision, holds }) =>
    typeof holds === "boolean" ? [] : `${decision}: ${holds.undetermined}`,
  );
  undetermined(run, lane, [...(reasons.length > 0 ? reasons : ["no decision holds"]), ...gaps]);
}

/** What two decisions must share to say the same. */
const meaningOf = ({ conclusion, next_step }: Decision) => [
  ...[conclusion.root_cause, conclusion.partial_finding, conclusion.recommended_action?.action, next_step],
];

/** Of several decisions that hold and say the same, the least sure one is taken. */
function takeHolding(run: Run, lane: Lane, step: TreeStep, names: readonly string[]): void {
  const decisions = Object.entries(step.decisions).filter(([name]) => names.includes(name));
  const [least, ...others] = decisions.toSorted(([, a], [, b]) => a.confidence - b.confidence);
  if (least === undefined) return;
  if (others.every(([, other]) => isDeepStrictEqual(meaningOf(other), meaningOf(least[1])))) {
    takeDecision(run, lane, least[0], { by: "tree" });
    return;
  }
  const found = decisions.map(([name, { conclusion }]) => `${name} (${findingOf(conclusion)})`).join(" and ");
  const options = decisionOptions(step).filter(({ name }) => names.includes(name));
  wait(run, lane, "contradictory_data", `${step.name}: ${found} hold at once.`, options);
}

/** `approved`: a person's word on a critical action. A person who takes a decision accepts its confidence. */
type Taking = { by: Conclusion["by"]; approved?: boolean | undefined };

export function takeDecision(run: Run, lane: Lane, name: string, { by, approved }: Taking): void {
  const from = lane.step ?? "";
  const decision = stepOf(run.tree, from).decisions[name];
  if (decision === undefined) throw new Error(`The step ${from} has no decision ${name}.`);
  if (lane.id === mainLane && askFirst(run, lane, name, decision, { by, approved })) return;
  const { confidence, conclusion, next_step } = decision;
  const { explanation, impact } = conclusion;
  addEvidence(run, lane, {
    kind: conclusion.root_cause === undefined ? "partial_finding" : "root_cause",
    finding: findingOf(conclusion),
    decision: name,
    data: sampleOf(run.state.results[from]) ?? null,
    ...{ confidence, explanation, impact, by },
  });
  note(run, lane, { decision: name, confidence, next_step });
  lane.confidence = Math.min(lane.confidence ?? 1, confidence);
  if (next_step === null) end(lane, { ...conclusion, by, approved });
  else go(run, lane, next_step);
}

/** Asks a person before a decision that is unsure, or that goes on with a critical action. */
function askFirst(
  run: Run,
  lane: Lane,
  name: string,
  { confidence, conclusion, next_step }: Decision,
  { by, approved }: Taking,
): boolean {
  const from = lane.step ?? "";
  const step = stepOf(run.tree, from);
  const finding = `${step.name}: ${findingOf(conclusion)}`;
  if (by === "tree" && confidence < thresholdOf(run.tree)) {
    wait(run, lane, "low_confidence", `${finding}, with a confidence of only ${confidence}.`, [
      { name: "accept", title: "Take it as found", effect: { do: "take", decision: name } },
      ...decisionOptions(step),
    ]);
    return true;
  }
  const action = conclusion.recommended_action;
  if (next_step === null || approved !== undefined || !isCritical(run.tree, action)) return false;
  askApproval(run, from, finding, action.action, (approved) => ({ do: "take", decision: name, approved }));
  return true;
}

type Note = Pick<TreeState["history"][number], "decision" | "confidence" | "next_step">;

export function note({ state, at }: Run, { id, step }: Lane, what: Note): void {
  state.history.push({ lane: id, from_state: step ?? "merged findings", ...what, timestamp: at });
}

function go(run: Run, lane: Lane, next: string): void {
  const runs = lane.visits[next] ?? 0;
  const isStuck = lane.steps_since >= (run.tree.rules.stuck_after_steps?.max_steps ?? 5);
  if (runs < maxVisits && !isStuck) enter(run, lane, next);
  else if (runs > 0) wait(run, lane, "loop", `The tree loops: ${loopOf(run, lane, next)}.`, []);
  else {
    const title = `Go on with: ${stepOf(run.tree, next).name}`;
    const further = { name: "continue", title, effect: { do: "go" as const, step: next } };
    wait(run, lane, "stuck_after_steps", `${lane.steps_since} steps found no cause.`, [further]);
  }
}

function loopOf({ state }: Run, { id }: Lane, next: string): string {
  const steps = state.history.filter(({ lane }) => lane === id).map(({ from_state }) => from_state);
  return [...steps.slice(steps.lastIndexOf(next)), next].join(" → ");
}

/** A step that cannot be judged. */
function undetermined(run: Run, lane: Lane, reasons: readonly string[]): void {
  const name = lane.step ?? "";
  const step = stepOf(run.tree, name);
  const finding = reasons.join("; ");
  if (lane.id === mainLane) addEvidence(run, lane, { kind: "undetermined", finding, by: "tree" });
  const effect = { do: "go" as const, step: name };
  const canRetry = (lane.visits[name] ?? 0) < maxVisits;
  wait(run, lane, "undetermined", `${step.name} cannot be determined: ${finding}.`, [
    ...(canRetry ? [{ name: "retry", title: "Try this step again", effect }] : []),
    ...decisionOptions(step),
  ]);
}

/** Asks a person. A parallel check never asks and never stops the others: it ends with the reason. */
function wait(
  run: Run,
  lane: Lane,
  trigger: Handoff["trigger"],
  reason: string,
  options: Handoff["options"],
): void {
  if (lane.id === mainLane) {
    ask(run, trigger, lane.step, reason, options);
    return;
  }
  addEvidence(run, lane, { kind: "undetermined", finding: reason, by: "tree" });
  end(lane, null);
}

export function end(lane: Lane, conclusion: Conclusion | null): void {
  Object.assign(lane, { step: null, action: null, conclusion });
}
