import { isDeepStrictEqual } from "node:util";
import type { DecisionTree, TreeStep } from "./schema.ts";
import type { Effect, Evaluate, Evidence, Handoff, Lane, Scope, TreeState } from "./types.ts";

/** One transition at work: `state` is a copy of its own. */
export type Run = { tree: DecisionTree; state: TreeState; evaluate: Evaluate; at: number };

/** The lane of the tree's own path; only this one asks a person. */
export const mainLane = "main";

/** A step that would run a third time on one path is a loop. */
export const maxVisits = 2;

export const thresholdOf = ({ rules }: DecisionTree): number => rules.low_confidence?.threshold ?? 0.7;

type Action = { action: string; human_approval_required: boolean };
export const isCritical = ({ rules }: DecisionTree, action: Action | undefined): action is Action =>
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

type Finding = { root_cause?: string | undefined; partial_finding?: string | undefined };
export const findingOf = ({ root_cause, partial_finding }: Finding): string =>
  root_cause ?? partial_finding ?? "";

export function addEvidence(
  { tree, state, at }: Run,
  lane: Lane,
  found: Pick<Evidence, "kind" | "finding" | "by"> & Partial<Evidence>,
): void {
  const step = found.step ?? lane.step ?? "";
  const name = tree.steps[step]?.name ?? step;
  const nothing = { decision: null, confidence: null, data: null };
  state.evidence.push({ lane: lane.id, step, name, at, ...nothing, ...found });
}

type Option = Handoff["options"][number];

const stop: Option = { name: "stop", title: "End without a cause", effect: { do: "stop" } };

/**
 * Asks a person. `reason`: why, as a sentence; the words of the tree's own rule follow it. `step`: null when it is about the merged
 * findings. After `options` come the steps that the path has not run, and to stop; not before a critical action.
 */
export function ask(
  run: Run,
  trigger: Handoff["trigger"],
  step: string | null,
  reason: string,
  options: readonly Option[],
): void {
  const { rules } = run.tree;
  const { handoffs } = run.state;
  const isCritical = trigger === "critical_decision";
  const words = trigger === "loop" || trigger === "undetermined" ? undefined : rules[trigger]?.action;
  const prompt = isCritical
    ? "Approve it or not."
    : "Choose an option, or say in your own words what the cause is.";
  const sentences = [reason, words, prompt].filter((text) => text !== undefined);
  const question = sentences.map((text) => (/[.?!]$/.test(text) ? text : `${text}.`)).join(" ");
  const all = isCritical ? options : [...options, ...otherSteps(run), stop];
  const isFirst = ({ name, effect }: Option, at: number) =>
    all.findIndex((one) => one.name === name || isDeepStrictEqual(one.effect, effect)) === at;
  const asked = { options: all.filter(isFirst), asked_at: run.at, answer: null };
  handoffs.push({ id: `h${handoffs.length + 1}`, trigger, step, question, ...asked });
}

/** Asks for the approval of a critical action. */
export function askApproval(
  run: Run,
  step: string | null,
  found: string,
  action: string,
  effect: (approved: boolean) => Effect,
): void {
  ask(run, "critical_decision", step, `${found}. Recommended: ${action}.`, [
    { name: "approve", title: `Approve ${action}`, effect: effect(true) },
    { name: "reject", title: "Do not", effect: effect(false) },
  ]);
}

/** Steps that the tree's own path has not run. */
function otherSteps({ tree, state }: Run): Option[] {
  const main = mainOf(state);
  return Object.entries(tree.steps)
    .filter(
      ([name]) =>
        name !== main.step && main.visits[name] === undefined && !tree.parallel_checks.includes(name),
    )
    .slice(0, 8)
    .map(([name, step]) => ({ name, title: `Go on with: ${step.name}`, effect: { do: "go", step: name } }));
}

/** Every decision of a step, to be taken by a person. */
export const decisionOptions = ({ decisions }: TreeStep): Option[] =>
  Object.entries(decisions).map(([name, { conclusion }]) => ({
    name,
    title: `Take as found: ${findingOf(conclusion)}`,
    effect: { do: "take", decision: name },
  }));
