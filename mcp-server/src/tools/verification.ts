import { z } from "zod";
import { passConditionSchema, verificationSchema } from "../domain/index.ts";
import { deviceFields } from "../registry/fields.ts";
import { defineDeviceTool, defineTool } from "../registry/tool.ts";

export const listVerifications = defineTool({
  name: "list_verifications",
  title: "List checks",
  description: "Checks of a device with their parameters (? optional)",
  domain: "verification",
  capabilities: ["UI_VALIDATION"],
  effect: "read",
  timeoutMs: 10_000,
  input: z.strictObject({ ...deviceFields, command: z.string().optional().describe("One, with its schema") }),
  output: z.object({ checks: z.string(), schema: z.record(z.string(), z.unknown()).optional() }),
  async handle({ input: { command, ...ref }, services, context }) {
    return services.verifications.describe(await services.devices.offering(ref, context), command);
  },
});

const verdicts = z.array(
  z.object({
    command: z.string(),
    pass: z.boolean(),
    expected: z.string(),
    actual: z.string(),
    attempts: z.int(),
    elapsed_ms: z.int(),
    nearest: z.array(z.string()).optional(),
    evidence: z.array(z.string()).optional(),
    error: z.string().optional(),
    inconclusive: z.string().optional(),
    score: z.number().optional(),
    area: z.record(z.string(), z.number()).optional(),
  }),
);

const timeoutField = z
  .int()
  .min(0)
  .max(600_000)
  .default(5_000)
  .describe("Polled until it holds or this is over");

export const verifyDeviceState = defineDeviceTool({
  name: "verify_device_state",
  title: "Verify",
  description:
    "Check a device: text_visible {text}, element_visible {selector|ref}, element_text {selector|ref,text} and more in list_verifications. A check may have negate, timeout_ms",
  domain: "verification",
  capabilities: ["UI_VALIDATION"],
  effect: "read",
  timeoutMs: 660_000,
  drives: false,
  input: z.strictObject({
    ...deviceFields,
    checks: z.array(verificationSchema).min(1).max(100),
    pass_condition: passConditionSchema.default("all"),
    timeout_ms: timeoutField,
    source: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("A picture to judge instead: artifact:// or an upload"),
    lasting: z.boolean().optional(),
  }),
  unlisted: ["lasting"],
  output: z.object({
    pass: z.boolean(),
    inconclusive: z.string().optional(),
    verdicts,
    lasting: z.array(z.record(z.string(), z.unknown())).optional(),
  }),
  async handle({ input, services, device, signal, context }) {
    const { checks, pass_condition: passCondition, timeout_ms: timeoutMs, source } = input;
    const isRecorded = source === undefined && services.steps.isRecorded(device.id, context);
    const options = {
      passCondition,
      timeoutMs,
      signal,
      source,
      lasting: isRecorded || input.lasting === true,
    };
    const { lasting = [], ...report } = await services.verifications.check(device, checks, options);
    const passed = lasting.filter((_, at) => report.verdicts[at]?.pass);
    if (isRecorded) services.steps.note(device.id, passed, context);
    return { ...report, ...(input.lasting && { lasting }) };
  },
});

export const verifyNode = defineDeviceTool({
  name: "verify_node",
  title: "Verify a screen",
  description: "Is the device on this node? Runs the node's own checks",
  domain: "verification",
  capabilities: ["UI_VALIDATION", "NAVIGATION"],
  effect: "read",
  timeoutMs: 660_000,
  drives: false,
  input: z.strictObject({
    ...deviceFields,
    userinterface_name: z.string().min(1),
    node: z.string().min(1).describe("Id or label"),
    timeout_ms: timeoutField,
  }),
  output: z.object({
    node: z.string(),
    label: z.string(),
    pass: z.boolean(),
    inconclusive: z.string().optional(),
    verdicts,
  }),
  handle: ({ input, services, device, signal }) => services.navigation.verifyNode(device, input, signal),
});
