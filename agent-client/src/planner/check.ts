import type { Plan, PlanStep } from "./plan.ts";

/** The device that a step drives; undefined for the task's own. */
export const deviceOf = ({ params }: Pick<PlanStep, "params">): string | undefined =>
  typeof params?.device_id === "string" ? params.device_id : undefined;

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
  const indices = new Set(steps.map(({ index }) => index));
  const problems = [
    ...(indices.size < steps.length ? ["two steps have the same index"] : []),
    ...steps.flatMap((step) => problemsOf(step, indices, lab)),
  ];
  const waiting = problems.length === 0 ? inCircle(steps) : [];
  return waiting.length > 0 ? [`steps ${waiting.join(", ")} wait for each other`] : problems;
}

function problemsOf(step: PlanStep, indices: ReadonlySet<number>, { tools, devices, hasApp }: Lab): string[] {
  const { index, depends_on, tools: named = [] } = step;
  const device = deviceOf(step);
  const isForeign =
    device !== undefined && devices.length > 0 && !devices.some((one) => isSameDevice(one, device));
  return [
    ...(hasApp || named.length > 0
      ? []
      : [`step ${index} names no tools, and commands and checks need userinterface_name`]),
    ...depends_on
      .filter((on) => !indices.has(on))
      .map((on) => `step ${index} depends on step ${on}, which is not there`),
    ...named
      .filter((tool) => !tools.has(tool))
      .map((tool) => `TOOL_NOT_FOUND: step ${index} names the tool ${tool}, which is not there`),
    ...(isForeign
      ? [`step ${index} drives ${device}, which is not a device of this task (${devices.join(", ")})`]
      : []),
  ];
}

/** Indices of the steps that can never begin. */
function inCircle(steps: readonly PlanStep[]): number[] {
  const done = new Set<number>();
  let waiting = [...steps];
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    for (const { index, depends_on } of waiting) if (depends_on.every((on) => done.has(on))) done.add(index);
    waiting = waiting.filter(({ index }) => !done.has(index));
  }
  return waiting.map(({ index }) => index);
}
