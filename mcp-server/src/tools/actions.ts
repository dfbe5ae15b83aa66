import { z } from "zod";
import { actionBatchSchema } from "../domain/index.ts";
import { batchEnd, deviceFields, maxTokensField, waitField } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

export const listActions = defineTool({
  name: "list_actions",
  title: "List actions",
  description: "Commands of a device with their parameters (? optional)",
  domain: "actions",
  capabilities: ["INTERACTION_TESTING"],
  effect: "read",
  timeoutMs: 10_000,
  input: z.strictObject({ ...deviceFields, command: z.string().optional().describe("One, with its schema") }),
  output: z.object({ commands: z.string(), schema: z.record(z.string(), z.unknown()).optional() }),
  async handle({ input: { command, ...ref }, services, context }) {
    return services.actions.describe(await services.devices.offering(ref, context), command);
  },
});

const batch = actionBatchSchema.shape;

export const executeDeviceAction = defineTool({
  name: "execute_device_action",
  title: "Act on a device",
  description:
    "Run commands in order: click_element {ref|selector}, input_text {ref|selector,text}, press_key {key}, open_app {app}, on the web navigate_to_url {url}, more in list_actions. Returns what changed on the screen",
  domain: "actions",
  capabilities: ["INTERACTION_TESTING"],
  effect: "write",
  timeoutMs: 660_000,
  input: z.strictObject({
    ...deviceFields,
    actions: batch.actions,
    retry_actions: batch.retry_actions.describe("If actions fail"),
    failure_actions: batch.failure_actions.describe("If all fail"),
    look: z.boolean().default(true).describe("Report what changed"),
    ...maxTokensField(800),
    ...waitField,
    lasting: z.boolean().optional(),
  }),
  unlisted: ["lasting"],
  output: z.object({
    execution_id: z.string(),
    status: z.string(),
    queue: z.string().optional(),
    ...batchEnd,
  }),
  handle: ({ input, services, context }) => services.batches.run(input, context),
});
