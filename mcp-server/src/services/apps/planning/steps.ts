import {
  deviceOf,
  inOrder,
  orderProblems,
  type Plan,
  type PlanStep,
  planStepSchema,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Draft, Step } from "../authoring/types.ts";

/** What seed 004 calls going to a node. */
const goCommand = "execute_navigation";

/** Command names of seed 004, and what devices of today offer for them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["waitForTextToAppear", "text_visible"],
  ["waitForImageToAppear", "image_visible"],
]);

/** Commands that lead to the same place from everywhere. */
const anchors: ReadonlySet<string> = new Set([goCommand, "navigate_to_url", "open_app"]);

/** Whether a plan does the same wherever the device is, and on whichever device. */
export const startsAnywhere = (plan: Pick<Plan, "steps">): boolean =>
  anchors.has(orderedSteps(plan)[0]?.command ?? "") && plan.steps.every((step) => !deviceOf(step));

const commandNamed = (command: string): string => aliases.get(command) ?? command;

/** The steps of a plan, one after the other: one for each draft, or one in words where the first draft that passes is enough. */
export const stepsOf = (read: readonly Step[]): PlanStep[] =>
  read
    .flatMap(({ said, drafts, any }) =>
      any ? [{ objective: said }] : drafts.map((draft) => ({ objective: said, ...commandOf(draft) })),
    )
    .map((step, at) => planStepSchema.parse({ index: at + 1, ...step, depends_on: at === 0 ? [] : [at] }));

/** What a step of one draft runs. Nothing for a kind that only the words of the step say. */
function commandOf(draft: Draft): Partial<PlanStep> {
  switch (draft.type) {
    case "navigation":
      return { command: goCommand, params: { target_node: draft.target } };
    case "action":
      return { command: draft.command, params: draft.params };
    case "verification": {
      const { command, params, verification_type: action_type, negate, timeout_ms } = draft;
      return { command, params, action_type, negate, timeout_ms };
    }
    default:
      return {};
  }
}

/** The plan's steps in an order that keeps `depends_on`, and otherwise as given. Throws INVALID_PLAN. */
export function orderedSteps({ steps }: Pick<Plan, "steps">): PlanStep[] {
  const problems = orderProblems(steps);
  if (problems.length > 0) throw invalid(problems);
  return inOrder(steps).ordered;
}

/** What a device offers, by name: the kind that each command and check is called by, and the parameters of commands. */
export type Offers = {
  commands: ReadonlyMap<string, { type: string; params: ReadonlySet<string> }>;
  checks: ReadonlyMap<string, { type: string }>;
};

/** The kind of controller that runs a step: the one the step names, else the first of the device that has it. */
export function typeOf(
  { command, action_type, params }: PlanStep,
  { commands, checks }: Offers,
): string | undefined {
  if (command === goCommand) return "navigation";
  const asked = params?.action_type ?? action_type;
  if (typeof asked === "string") return asked;
  const name = commandNamed(command ?? "");
  return (commands.get(name) ?? checks.get(name))?.type;
}

/** A step as a test case in steps takes it: words, or an object. Throws INVALID_PLAN. */
export function testStepOf(step: PlanStep, { commands, checks }: Offers): unknown {
  const { index, objective, command, negate, timeout_ms } = step;
  if (step.tools)
    throw invalid([`step ${index} needs judgement (${step.tools.join(", ")}), so an agent must run it`]);
  if (command === undefined) return objective;
  const { action_type: type = step.action_type, device_id: _, ...params } = step.params ?? {};
  if (command === goCommand) return { go: nodeIn(step, params), label: objective };
  const name = commandNamed(command);
  if (checks.has(name) || negate) {
    const check = { [name]: params };
    const limit = timeout_ms !== undefined && { timeout_ms };
    return {
      ...(negate ? { not: check } : check),
      label: objective,
      ...(type !== undefined && { verification_type: type }),
      ...limit,
    };
  }
  const limit = timeout_ms !== undefined && commands.get(name)?.params.has("timeout_ms") && { timeout_ms };
  return {
    [name]: { ...limit, ...params },
    label: objective,
    ...(type !== undefined && { action_type: type }),
  };
}

function nodeIn({ index }: Pick<PlanStep, "index">, params: Readonly<Record<string, unknown>>): string {
  const node = params.target_node ?? params.target_node_id ?? params.node;
  if (typeof node === "string" && node !== "") return node;
  throw invalid([`step ${index}: ${goCommand} needs target_node, the label or id of a node`]);
}

/** `problems`: a line each. */
export function invalid(problems: readonly string[]): ToolError {
  return new ToolError(
    "INVALID_PLAN",
    `The plan cannot run: ${problems.join("; ")}.`,
    "Nothing was run. Correct these steps; get_task_context lists what the device can do.",
    { problems },
  );
}
