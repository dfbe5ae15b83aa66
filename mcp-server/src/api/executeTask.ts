import { z } from "zod";
import { longestTask } from "../domain/index.ts";
import { readInput } from "./errors.ts";

/** Seed 004's request: a task in words, for one device in one app. */
export const taskSchema = z.strictObject({
  prompt: z.string().trim().min(1).max(longestTask),
  userinterface_name: z.string().min(1),
  device_id: z.string().min(1).optional(),
  /** Where the device is: label or id of a node. */
  current_node_id: z.string().min(1).optional(),
});

/** The arguments of `execute_plan` for it. Throws INVALID_INPUT. */
export function planArgumentsOf(body: unknown): Record<string, unknown> {
  const hint = "Send {prompt, userinterface_name, device_id, current_node_id}.";
  const { prompt: task, ...rest } = readInput(taskSchema, body, hint);
  return { task, ...rest };
}
