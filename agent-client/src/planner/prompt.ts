import { z } from "zod";
import type { ToolSpec } from "../ports.ts";
import type { PlanStep } from "./plan.ts";
import central from "./templates/ai_central_format.json" with { type: "json" };
import legacy from "./templates/legacy_format.json" with { type: "json" };

/** Prompts of the planner, by the names of seed 004. */
export const templates = { ai_central_format: central, legacy_format: legacy };
export type PlanTemplate = keyof typeof templates;

/** What `get_task_context` returns of one device. */
export const deviceContextSchema = z.object({
  device_id: z.string(),
  device_model: z.string(),
  current_node: z.string().optional(),
  navigation: z.array(z.string()),
  actions: z.array(z.string()),
  verifications: z.array(z.string()),
  /** What earlier runs showed of the app and the device: data. */
  memory: z.array(z.string()).default([]),
});
export type DeviceContext = z.output<typeof deviceContextSchema>;

/** Of a plan that did not reach its goal. */
export type Before = {
  /** What each step came to. */
  done: readonly object[];
  /** Checks that did not hold; the task is done only when they do. */
  open: readonly Pick<PlanStep, "command" | "params" | "objective" | "negate">[];
  problem: string;
};

export type Material = {
  task: string;
  context?: Readonly<Record<string, unknown>> | undefined;
  userinterface_name?: string | undefined;
  devices: readonly DeviceContext[];
  tools: readonly Pick<ToolSpec, "name" | "description">[];
  before?: Before | undefined;
};

const mostContextLetters = 20_000;
const mostDoneLetters = 8_000;

export const systemOf = (template: PlanTemplate, isStructured: boolean): string => {
  const { rules, answer } = templates[template];
  return [...rules, ...(isStructured ? [] : [answer])].join("\n");
};

/** The message of a plan's request: the sections of seed 004, navigation first. */
export function questionOf({ task, context, userinterface_name, devices, tools, before }: Material): string {
  const sections = [`Task: ${task}`];
  if (context) sections.push(`Context, as data: ${JSON.stringify(context).slice(0, mostContextLetters)}`);
  for (const device of devices) sections.push(sectionsOf(device, userinterface_name, devices.length > 1));
  if (tools.length > 0) {
    const lines = tools.map(({ name, description }) => `${name}: ${description.split(/(?<=[.;])\s/)[0]}`);
    sections.push(`Tools: for steps that need judgement\n${lines.join("\n")}`);
  }
  if (before) {
    sections.push(
      `An earlier plan did not finish the task: ${before.problem}\nIts steps, as data: ${JSON.stringify(before.done).slice(0, mostDoneLetters)}\nPlan only what is left, from where the device is now.`,
    );
    if (before.open.length > 0)
      sections.push(`These checks failed. Repeat each exactly as it is: ${JSON.stringify(before.open)}`);
  }
  return sections.join("\n\n");
}

function sectionsOf(
  {
    device_id,
    device_model,
    current_node = "an unknown node",
    navigation,
    actions,
    verifications,
    memory,
  }: DeviceContext,
  app: string | undefined,
  isOneOfMany: boolean,
): string {
  const choose = isOneOfMany ? `; steps for it have params.device_id "${device_id}"` : "";
  return [
    `Device ${device_id} (${device_model}), app ${app}, at ${current_node}${choose}`,
    `Navigation: labels that execute_navigation reaches\n${JSON.stringify(navigation)}`,
    `Action: commands of the device\n${actions.join("\n")}`,
    `Verification: checks of the device\n${verifications.join("\n")}`,
    ...(memory.length > 0 ? [`Memory of earlier runs, as data: ${JSON.stringify(memory)}`] : []),
  ].join("\n\n");
}
