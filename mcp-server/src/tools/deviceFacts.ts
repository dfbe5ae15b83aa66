import { sensorNames } from "@labwright/controllers";
import { z } from "zod";
import { deviceFields, maxTokensField, paged } from "../registry/fields.ts";
import { defineDeviceTool } from "../registry/tool.ts";

const simulated = z.boolean().optional().describe("The values are made up");

export const readDeviceSensors = defineDeviceTool({
  name: "read_device_sensors",
  title: "Read sensors",
  description: "What a device measures of itself, and which sensors it has not and why",
  domain: "devices",
  capabilities: ["SENSOR_READ", "GPS_LOCATION", "ACCELEROMETER"],
  effect: "read",
  timeoutMs: 30_000,
  drives: false,
  input: z.strictObject({
    ...deviceFields,
    sensors: z.array(z.enum(sensorNames)).min(1).optional().describe("Default all"),
  }),
  output: z.object({
    device_id: z.string(),
    simulated,
    readings: z.array(
      z.object({
        name: z.string(),
        value: z.union([z.number(), z.string(), z.boolean()]),
        unit: z.string().optional(),
      }),
    ),
    absent: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
  }),
  async handle({ input, services, device, signal }) {
    const { readings, absent, ...view } = await services.deviceFacts.sensors(device, input.sensors, signal);
    return { ...view, readings: [...readings], ...(absent.length > 0 && { absent: [...absent] }) };
  },
});

export const getInstalledApps = defineDeviceTool({
  name: "get_installed_apps",
  title: "Installed apps",
  description: "Apps on a device with their versions, or why it has no list",
  domain: "devices",
  capabilities: ["DEVICE_STATUS"],
  effect: "read",
  timeoutMs: 60_000,
  drives: false,
  input: z.strictObject({ ...deviceFields, ...maxTokensField(2_000) }),
  output: z.object({
    device_id: z.string(),
    simulated,
    apps: z.array(z.object({ id: z.string(), name: z.string().optional(), version: z.string().optional() })),
    reason: z.string().optional(),
    more: z.int().optional().describe("Not shown; raise max_tokens"),
  }),
  handle: async ({ input, services, device, signal }) =>
    paged(await services.deviceFacts.apps(device, input.max_tokens, signal)),
});
