import { z } from "zod";
import { brief } from "./brief.ts";
import type { AnyTool } from "./tool.ts";

type JsonObject = { [key: string]: unknown };

/** A tool as `tools/list` carries it. `_meta` keys are `dev.labwright/domain`, `/capabilities`, `/max_retries`, `/timeout_ms`. */
export type WireTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonObject & { type: "object" };
  outputSchema: JsonObject & { type: "object" };
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  _meta: JsonObject;
};

/** Domains whose tools reach apps and pages that are not ours. */
const openWorld: ReadonlySet<string> = new Set([
  "actions",
  "screen",
  "verification",
  "navigation",
  "testcases",
]);

export const isIdempotent = (tool: AnyTool): boolean => tool.effect === "read" || tool.idempotent === true;

/** How often a call may be repeated by itself. */
export const maxRetries = (tool: AnyTool): number => (isIdempotent(tool) ? 3 : 0);

/** The strict shape of a tool's arguments, which `schema://` shows. */
export const strictInput = (tool: AnyTool): z.ZodObject => tool.strictInput ?? tool.input;

/** The arguments that a listing shows. */
const listedInput = ({ input, unlisted = [] }: AnyTool): z.ZodObject =>
  z.strictObject(
    Object.fromEntries(Object.entries(input.shape).filter(([name]) => !unlisted.includes(name))),
  );

export function toWireTool(tool: AnyTool): WireTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: brief(wireSchema(listedInput(tool), "input")),
    outputSchema: wireSchema(tool.output, "output"),
    annotations: {
      readOnlyHint: tool.effect === "read",
      destructiveHint: tool.effect === "destructive" || "replace" in tool.input.shape,
      idempotentHint: isIdempotent(tool),
      openWorldHint: openWorld.has(tool.domain),
    },
    _meta: {
      "dev.labwright/domain": tool.domain,
      "dev.labwright/capabilities": [...tool.capabilities],
      "dev.labwright/max_retries": maxRetries(tool),
      "dev.labwright/timeout_ms": tool.timeoutMs,
      "dev.labwright/schema": `schema://${tool.name}`,
    },
  };
}

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** JSON Schema 2020-12 without what only costs tokens: `$schema`, bounds of safe integers, and what says nothing. */
export function wireSchema(schema: z.ZodObject, io: "input" | "output"): JsonObject & { type: "object" } {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (isEmpty(jsonSchema.properties)) delete jsonSchema.properties;
      if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
      if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
    },
  });
  // OpenAI's clients refuse a tool whose input has no `properties`.
  return { ...json, type: "object", ...(io === "input" && { properties: json.properties ?? {} }) };
}
