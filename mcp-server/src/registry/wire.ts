import { z } from "zod";
import type { AnyTool } from "./tool.ts";

type JsonObject = { [key: string]: unknown };

/** A tool as `tools/list` carries it. `_meta` keys are `dev.labwright/domain`, `/capabilities`, `/max_retries`. */
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

const maxRetries = (tool: AnyTool): number => (isIdempotent(tool) ? 3 : 0);

/** Where the strict schema is, of a tool whose listing shows a brief one. */
const schemaMeta = "dev.labwright/schema";

/** The strict shape of what a tool lists in brief; undefined when the listing is strict. */
export const wholeInput = (tool: AnyTool): z.ZodObject | undefined =>
  tool.strictInput ?? (tool.wireInput && tool.input);

export function toWireTool(tool: AnyTool): WireTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: wireSchema(tool.wireInput ?? tool.input, "input"),
    outputSchema: wireSchema(tool.output, "output"),
    annotations: {
      readOnlyHint: tool.effect === "read",
      destructiveHint: tool.effect === "destructive",
      idempotentHint: isIdempotent(tool),
      openWorldHint: openWorld.has(tool.domain),
    },
    _meta: {
      "dev.labwright/domain": tool.domain,
      "dev.labwright/capabilities": [...tool.capabilities],
      "dev.labwright/max_retries": maxRetries(tool),
      ...(wholeInput(tool) && { [schemaMeta]: `schema://${tool.name}` }),
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
