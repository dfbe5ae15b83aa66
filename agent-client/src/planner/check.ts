import { deviceOf, orderProblems, type Plan, type PlanStep } from "./plan.ts";

/** Whether two names mean one device: `host/name`, or the name alone. */
export const isSameDevice = (one: string, other: string): boolean =>
  one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);

type Lab = { tools: ReadonlySet<string>; devices: readonly string[]; hasApp: boolean };

/**
 * What is wrong with a plan that fits its schema, a line each: indices, dependencies that nothing can fulfil, tools that
 * there are not, devices that are not the task's. The server checks commands and nodes.
 */
export function problemsIn({ steps, feasible }: Plan, lab: Lab): string[] {
  if (!feasible) return [];
  if (steps.length === 0) return ["it has no steps"];
  return [...orderProblems(steps), ...steps.flatMap((step) => problemsOf(step, lab))];
}

function problemsOf(step: PlanStep, { tools, devices, hasApp }: Lab): string[] {
  const { index, tools: named = [] } = step;
  const device = deviceOf(step);
  const isForeign =
    device !== undefined && devices.length > 0 && !devices.some((one) => isSameDevice(one, device));
  return [
    ...(hasApp || named.length > 0
      ? []
      : [`step ${index} names no tools, and commands and checks need userinterface_name`]),
    ...named
      .filter((tool) => !tools.has(tool))
      .map((tool) => `TOOL_NOT_FOUND: step ${index} names the tool ${tool}, which is not there`),
    ...(isForeign
      ? [`step ${index} drives ${device}, which is not a device of this task (${devices.join(", ")})`]
      : []),
  ];
}
