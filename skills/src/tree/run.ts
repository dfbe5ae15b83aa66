import type { Decision, DecisionTree, TreeStep } from "./schema.ts";
import type { Conclusion, Effect, Evaluate, Evidence, Handoff, Lane, Scope, TreeState } from "./types.ts";

/** One transition at work: `state` is a copy of its own. */
export type Run = { tree: DecisionTree; state: TreeState; evaluate: Evaluate; at: number };

/** The lane of the tree's own path; only this one asks a person. */
export const mainLane = "main";

const defaultThreshold = 0.7;
const defaultMaxSteps = 5;
/** A step that would run a third time on one path is a loop. */
export const maxVisits = 2;

export const thresholdOf = ({ rules }: DecisionTree): number =>
  rules.low_confidence?.threshold ?? defaultThreshold;
export const maxStepsOf = ({ rules }: DecisionTree): number =>
  rules.stuck_after_steps?.max_steps ?? defaultMaxSteps;

export const isCritical = (
  { rules }: DecisionTree,
  action: { action: string; human_approval_required: boolean } | undefined,
): boolean =>
  action !== undefined &&
  (action.human_approval_required || (rules.critical_decision?.actions ?? []).includes(action.action));

export function stepOf(tree: DecisionTree, name: string): TreeStep {
  const step = Object.hasOwn(tree.steps, name) ? tree.steps[name] : undefined;
  if (step === undefined) throw new Error(`The tree has no step ${name}.`);
  return step;
}

export function mainOf({ lanes }: TreeState): Lane {
  const main = lanes.find(({ id }) => id === mainLane);
  if (main === undefined) throw new Error("The state has no main path.");
  return main;
}

export const openHandoff = ({ handoffs }: TreeState): Handoff | undefined => {
  const last = handoffs.at(-1);
  return last?.answer === null ? last : undefined;
};

/** What placeholders and conditions can name. */
export const scopeOf = ({ context, results }: TreeState): Scope => ({ ...context, steps: results });

export const conclusionOf = (
  { conclusion }: Decision,
  by: Conclusion["by"],
  approved?: boolean,
): Conclusion => ({
  root_cause: conclusion.root_cause ?? null,
  partial_finding: conclusion.partial_finding ?? null,
  explanation: conclusion.explanation,
  impact: conclusion.impact,
  recommended_action: conclusion.recommended_action,
  approved,
  by,
});

export const findingOf = ({ root_cause, partial_finding }: Decision["conclusion"]): string =>
  root_cause ?? partial_finding ?? "";

export function addEvidence(
  { tree, state, at }: Run,
  lane: Lane,
  found: Pick<Evidence, "kind" | "finding" | "by"> & Partial<Evidence>,
  data?: unknown,
): void {
  const step = found.step ?? lane.step ?? "";
  const name = Object.hasOwn(tree.steps, step) ? (tree.steps[step]?.name ?? step) : step;
  state.evidence.push({
    lane: lane.id,
    step,
    name,
    decision: null,
    confidence: null,
    ...found,
    data: data ?? null,
    at,
  });
}

export type Asked = { name: string; title: string; effect: Effect };

/**
 * Asks a person. `reason`: why, as a sentence; the words of the tree's own rule follow it. `step`: null when it is about the merged
 * findings. Only the first of two options with one name stays.
 */
export function ask(
  { tree: { rules }, state, at }: Run,
  trigger: Handoff["trigger"],
  step: string | null,
  reason: string,
  asked: readonly Asked[],
): void {
  const words = trigger === "loop" || trigger === "undetermined" ? undefined : rules[trigger]?.action;
  const prompt =
    trigger === "critical_decision"
      ? "Approve it or not."
      : "Choose an option, or say in your own words what the cause is.";
  const sentences = [reason, words, prompt].filter((text) => text !== undefined);
  const question = sentences.map((text) => (/[.?!]$/.test(text) ? text : `${text}.`)).join(" ");
  const options = asked.filter(({ name }, at) => asked.findIndex((one) => one.name === name) === at);
  const id = `h${state.handoffs.length + 1}`;
  state.handoffs.push({ id, trigger, step, question, options, asked_at: at, answer: null });
}

export const stopOption: Asked = { name: "stop", title: "End without a cause", effect: { do: "stop" } };

/** Steps that the tree's own path has not run. */
export const otherSteps = ({ tree, state }: Run): Asked[] => {
  const main = mainOf(state);
  return Object.entries(tree.steps)
    .filter(
      ([name]) =>
        name !== main.step && main.visits[name] === undefined && !tree.parallel_checks.includes(name),
    )
    .slice(0, 8)
    .map(([name, step]) => ({ name, title: `Go on with: ${step.name}`, effect: { do: "go", step: name } }));
};

/** Every decision of a step, to be taken by a person. */
export const decisionOptions = (
  step: TreeStep,
  names: readonly string[] = Object.keys(step.decisions),
): Asked[] =>
  names.flatMap((name) => {
    const decision = step.decisions[name];
    const title = decision && `Take as found: ${findingOf(decision.conclusion)}`;
    return title === undefined ? [] : [{ name, title, effect: { do: "take", decision: name } }];
  });
