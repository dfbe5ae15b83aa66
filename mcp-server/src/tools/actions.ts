import { z } from "zod";
import { actionBatchSchema } from "../domain/index.ts";
import { deviceFields, maxTokensField, waitField } from "../registry/fields.ts";
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

const params = z.record(z.string(), z.unknown()).optional();
const briefActions = z.array(z.object({ command: z.string(), params }));

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
    ...actionBatchSchema.partial({ actions: true }).shape,
    look: z.boolean().default(true).describe("Report what changed"),
    ...maxTokensField(800),
    ...waitField,
    execution_id: z.string().optional(),
    lasting: z.boolean().optional(),
  }),
  wireInput: z.object({
    ...deviceFields,
    actions: briefActions.optional(),
    retry_actions: z.array(z.object({})).optional().describe("If actions fail"),
    failure_actions: z.array(z.object({})).optional().describe("If all fail"),
    look: z.boolean().optional().describe("false: no report"),
    max_tokens: z.int().optional(),
    wait_ms: z.int().optional(),
    execution_id: z.string().optional().describe("Go on waiting for it"),
  }),
  output: z.object({
    execution_id: z.string(),
    status: z.string(),
    queue: z.string().optional(),
    results: z.array(z.object({ command: z.string(), message: z.string(), data: params })).optional(),
    screen: z.string().optional(),
    lasting: z.array(z.record(z.string(), z.unknown())).optional(),
  }),
  handle: ({ input, services, context }) => services.batches.run(input, context),
});
