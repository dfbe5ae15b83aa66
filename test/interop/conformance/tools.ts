import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { WireTool } from "#mcp-server/registry/wire.ts";
import type { ToolCall } from "#mcp-server/server/mcp/backend.ts";

/** One red pixel. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A header of WAV without a sample. */
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const text = (said: string): ContentBlock => ({ type: "text", text: said });
const image: ContentBlock = { type: "image", data: png, mimeType: "image/png" };
const said = (...content: ContentBlock[]): CallToolResult => ({ content, structuredContent: {} });

/** What the scenarios ask of tools by these names, as the backend of the product's own server would answer. */
const runs: Record<string, (call: ToolCall) => CallToolResult> = {
  test_simple_text: () => said(text("This is a simple text response for testing.")),
  test_image_content: () => said(image),
  test_audio_content: () => said({ type: "audio", data: wav, mimeType: "audio/wav" }),
  test_embedded_resource: () =>
    said({
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }),
  test_multiple_content_types: () =>
    said(text("Multiple content types test:"), image, {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      },
    }),
  test_error_handling: () => ({
    isError: true,
    content: [text("This tool intentionally returns an error for testing")],
  }),
  test_tool_with_progress: ({ progress }) => {
    for (const done of [0, 50, 100]) progress?.(done, 100, `${done} of 100`);
    return said(text("Progress was sent."));
  },
  // Of these the suite checks what they must not do: ask, or log unasked.
  test_streaming_elicitation: () => said(text("Nothing is asked.")),
  test_logging_tool: () => said(text("Nothing is logged.")),
  json_schema_2020_12_tool: () => said(text("It is only listed.")),
};

export const isFixtureTool = (name: string): boolean => Object.hasOwn(runs, name);

export async function runFixtureTool(call: ToolCall): Promise<CallToolResult> {
  return runs[call.name]?.(call) ?? said();
}

const inputs: Record<string, Record<string, unknown>> = {
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
};

export const fixtureTools: WireTool[] = Object.keys(runs).map((name) => ({
  name,
  title: name,
  description: "Of the conformance suite.",
  inputSchema: { ...inputs[name], type: "object" },
  outputSchema: { type: "object" },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  _meta: {},
}));
