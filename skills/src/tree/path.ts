import { isDeepStrictEqual } from "node:util";
import { fillAction } from "./fill.ts";
import { NoValue } from "./placeholders.ts";
import { sampleOf, shapeResult } from "./results.ts";
import {
  type Asked,
  addEvidence,
  ask,
  conclusionOf,
  decisionOptions,
  findingOf,
  isCritical,
  mainLane,
  maxStepsOf,
  maxVisits,
  otherSteps,
  type Run,
  scopeOf,
  stepOf,
  stopOption,
  thresholdOf,
} from "./run.ts";
import type { Decision, TreeStep } from "./schema.ts";
import type { ActionResult, Conclusion, FilledAction, Handoff, Lane } from "./types.ts";

/** Goes to a step: its action is given out when its pre-conditions hold and all its values are there. */
export function enter(run: Run, lane: Lane, name: string): void {
  const step = stepOf(run.tree, name);
  Object.assign(lane, { step: name, status: "running", action: null });
  const reasons = step.pre_conditions.flatMap((condition) => {
    const holds = run.evaluate(condition, scopeOf(run.state));
    if (holds === true) return [];
    return holds === false
      ? `${condition} does not hold`
      : `${condition} cannot be determined: ${holds.undetermined}`;
  });
  const action = reasons.length > 0 ? reasons : filled(run, step);
  if (Array.isArray(action)) {
    undetermined(run, lane, action);
    return;
  }
  lane.action = action;
  lane.visits[name] = (lane.visits[name] ?? 0) + 1;
}

function filled({ tree, state, at }: Run, { action }: TreeStep): FilledAction | string[] {
  try {
    return fillAction(action, tree, scopeOf(state), at);
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
  const judged = Object.entries(step.decisions).map(
    ([decision, { condition }]) => [decision, run.evaluate(condition, scope)] as const,
  );
  const holding = judged.flatMap(([decision, holds]) => (holds === true ? [decision] : []));
  if (holding.length > 0) {
    takeHolding(run, lane, step, holding);
    return;
  }
  const reasons = judged.flatMap(([decision, holds]) =>
    typeof holds === "boolean" ? [] : [`${decision}: ${holds.undetermined}`],
  );
  undetermined(run, lane, reasons.length > 0 ? [...reasons, ...gaps] : ["no decision holds", ...gaps]);
}

/** What two decisions must share to say the same. */
const meaningOf = ({ conclusion, next_step }: Decision) => [
  ...[conclusion.root_cause, conclusion.partial_finding, conclusion.recommended_action?.action, next_step],
];

function takeHolding(run: Run, lane: Lane, step: TreeStep, names: readonly string[]): void {
  const decisions = names.flatMap((name) => {
    const decision = step.decisions[name];
    return decision === undefined ? [] : [{ name, decision }];
  });
  const least = decisions.reduce((a, b) => (b.decision.confidence < a.decision.confidence ? b : a));
  const isOne = decisions.every(({ decision }) =>
    isDeepStrictEqual(meaningOf(decision), meaningOf(least.decision)),
  );
  if (isOne) {
    takeDecision(run, lane, least.name, { by: "tree" });
    return;
  }
  const found = decisions
    .map(({ name, decision }) => `${name} (${findingOf(decision.conclusion)})`)
    .join(" and ");
  const reason = `${step.name}: ${found} hold at once.`;
  if (lane.id !== mainLane) {
    endOpen(run, lane, reason);
    return;
  }
  wait(run, lane, "contradictory_data", reason, [
    ...decisionOptions(step, names),
    ...otherSteps(run),
    stopOption,
  ]);
}

/** `approved`: a person's word on a critical action. A person who takes a decision accepts its confidence. */
export function takeDecision(
  run: Run,
  lane: Lane,
  name: string,
  { by, approved }: { by: Conclusion["by"]; approved?: boolean | undefined },
): void {
  const from = lane.step ?? "";
  const step = stepOf(run.tree, from);
  const decision = step.decisions[name];
  if (decision === undefined) throw new Error(`The step ${from} has no decision ${name}.`);
  if (lane.id === mainLane && askFirst(run, lane, step, name, decision, { by, approved })) return;
  const { confidence, conclusion, next_step } = decision;
  const { explanation, impact } = conclusion;
  const kind = conclusion.root_cause === undefined ? "partial_finding" : "root_cause";
  const found = {
    kind,
    finding: findingOf(conclusion),
    decision: name,
    confidence,
    explanation,
    impact,
    by,
  } as const;
  addEvidence(run, lane, found, sampleOf(run.state.results[from]));
  note(run, lane, { decision: name, confidence, next_step });
  lane.confidence = Math.min(lane.confidence ?? 1, confidence);
  if (next_step === null) end(lane, conclusionOf(decision, by, approved));
  else go(run, lane, next_step);
}

/** Asks a person before a decision that is unsure, or that goes on with a critical action. */
function askFirst(
  run: Run,
  lane: Lane,
  step: TreeStep,
  name: string,
  { confidence, conclusion, next_step }: Decision,
  { by, approved }: { by: Conclusion["by"]; approved?: boolean | undefined },
): boolean {
  const finding = `${step.name}: ${findingOf(conclusion)}`;
  if (by === "tree" && confidence < thresholdOf(run.tree)) {
    const others = Object.keys(step.decisions).filter((other) => other !== name);
    wait(run, lane, "low_confidence", `${finding}, with a confidence of only ${confidence}.`, [
      { name: "accept", title: "Take it as found", effect: { do: "take", decision: name } },
      ...decisionOptions(step, others),
      ...otherSteps(run),
      stopOption,
    ]);
    return true;
  }
  const action = conclusion.recommended_action;
  if (next_step === null || approved !== undefined || !isCritical(run.tree, action)) return false;
  wait(run, lane, "critical_decision", `${finding}. Recommended: ${action?.action}.`, [
    {
      name: "approve",
      title: `Approve ${action?.action}`,
      effect: { do: "take", decision: name, approved: true },
    },
    { name: "reject", title: "Do not", effect: { do: "take", decision: name, approved: false } },
  ]);
  return true;
}

export function note(
  { state, at }: Run,
  lane: Lane,
  {
    decision,
    confidence,
    next_step,
  }: { decision: string | null; confidence: number | null; next_step: string | null },
): void {
  const from_state = lane.step ?? "merged findings";
  state.history.push({ lane: lane.id, from_state, decision, confidence, next_step, timestamp: at });
}

function go(run: Run, lane: Lane, next: string): void {
  const runs = lane.visits[next] ?? 0;
  const isStuck = lane.steps_since >= maxStepsOf(run.tree);
  if (runs < maxVisits && !isStuck) {
    enter(run, lane, next);
    return;
  }
  const isLoop = runs > 0;
  const reason = isLoop
    ? `The tree loops: ${loopOf(run, lane, next)}.`
    : `${lane.steps_since} steps found no cause.`;
  if (lane.id !== mainLane) {
    endOpen(run, lane, reason);
    return;
  }
  const further = { name: "continue", title: `Go on with: ${stepOf(run.tree, next).name}` };
  wait(run, lane, isLoop ? "loop" : "stuck_after_steps", reason, [
    ...(isLoop ? [] : [{ ...further, effect: { do: "go" as const, step: next } }]),
    ...otherSteps(run).filter(({ name }) => isLoop || name !== next),
    stopOption,
  ]);
}

function loopOf({ state }: Run, { id }: Lane, next: string): string {
  const steps = state.history.filter(({ lane }) => lane === id).map(({ from_state }) => from_state);
  return [...steps.slice(steps.lastIndexOf(next)), next].join(" → ");
}

/** A step that cannot be judged. A parallel check that cannot be judged ends with its reason. */
function undetermined(run: Run, lane: Lane, reasons: readonly string[]): void {
  const name = lane.step ?? "";
  const step = stepOf(run.tree, name);
  const reason = `${step.name} cannot be determined: ${reasons.join("; ")}.`;
  if (lane.id !== mainLane) {
    endOpen(run, lane, reason);
    return;
  }
  addEvidence(run, lane, { kind: "undetermined", finding: reasons.join("; "), by: "tree" });
  const canRetry = (lane.visits[name] ?? 0) < maxVisits;
  wait(run, lane, "undetermined", reason, [
    ...(canRetry
      ? [{ name: "retry", title: "Try this step again", effect: { do: "go" as const, step: name } }]
      : []),
    ...decisionOptions(step),
    ...otherSteps(run),
    stopOption,
  ]);
}

function wait(
  run: Run,
  lane: Lane,
  trigger: Handoff["trigger"],
  reason: string,
  options: readonly Asked[],
): void {
  lane.status = "waiting";
  lane.action = null;
  ask(run, trigger, lane.step, reason, options);
}

export function end(lane: Lane, conclusion: Conclusion | null): void {
  Object.assign(lane, { status: "ended", step: null, action: null, conclusion });
}

/** A parallel check that ends without a conclusion never stops the others. */
function endOpen(run: Run, lane: Lane, reason: string): void {
  addEvidence(run, lane, { kind: "undetermined", finding: reason, by: "tree" });
  end(lane, null);
}
