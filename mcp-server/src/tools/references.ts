import { z } from "zod";
import { areaSchema, labelSchema, referenceKindSchema } from "../domain/index.ts";
import { deviceFields, maxTokensField, paged, replaceField } from "../registry/fields.ts";
import { defineDeviceTool, defineTool } from "../registry/tool.ts";

const view = {
  name: z.string(),
  model: z.string(),
  kind: referenceKindSchema,
  area: areaSchema.optional(),
  text: z.string().optional(),
  uri: z.string().optional(),
};

export const saveReference = defineDeviceTool({
  name: "save_reference",
  title: "Save a reference",
  description: "Keep a part of the screen, or its text, for checks of this app and device model",
  domain: "verification",
  capabilities: ["UI_VALIDATION", "VISION_ANALYSIS"],
  effect: "write",
  timeoutMs: 60_000,
  drives: false,
  input: z.strictObject({
    ...deviceFields,
    userinterface_name: z.string().min(1),
    name: labelSchema,
    kind: referenceKindSchema,
    area: areaSchema.optional().describe("Pixels of the full frame"),
    element: z.string().min(1).max(200).optional().describe("Instead of area: ref or words"),
    text: z.string().min(1).max(10_000).optional().describe("Default: what is shown"),
    ...replaceField,
  }),
  output: z.object({ ...view, replaced: z.boolean() }),
  async handle({ input, services, device, signal, attach }) {
    const { shown, ...saved } = await services.references.save(device, input, signal);
    const mimeType = "image/png";
    if (shown)
      attach({ kind: "image", mimeType: shown.mimeType, bytes: shown.bytes, note: `scale ${shown.scale}` });
    if (saved.uri) attach({ kind: "link", uri: saved.uri, name: saved.name, mimeType });
    return saved;
  },
});

export const listReferences = defineTool({
  name: "list_references",
  title: "List references",
  description: "Saved crops and texts of screens, by app and device model",
  domain: "verification",
  capabilities: ["UI_VALIDATION"],
  effect: "read",
  timeoutMs: 30_000,
  input: z.strictObject({
    userinterface_name: z.string().optional(),
    model: z.string().optional(),
    ...maxTokensField(2_000),
  }),
  output: z.object({
    references: z.array(z.object({ userinterface_name: z.string(), ...view })),
    more: z.int().optional().describe("Not shown; raise max_tokens or filter"),
  }),
  handle: async ({ input: { max_tokens: maxTokens, ...filter }, services }) =>
    paged(await services.references.list({ ...filter, maxTokens })),
});
