import type { Client, Tool } from "@modelcontextprotocol/client";
import type { Toolbox } from "../loop/runAgent.ts";
import type { ResultPart, ToolSpec } from "../model/model.ts";

/** The part of an MCP client that the agent needs; the only door from the agent to devices. */
export type McpTools = Pick<Client, "listTools" | "callTool">;

/**
 * A toolbox over an MCP connection. `only` keeps these tools, in the server's order; a name that the server does not
 * have is an error, so that a skill never runs with half its tools.
 */
export async function mcpToolbox(client: McpTools, only?: readonly string[]): Promise<Toolbox> {
  const { tools } = await client.listTools();
  const missing = only?.filter((name) => !tools.some((tool) => tool.name === name)) ?? [];
  if (missing.length > 0) throw new Error(`The server does not offer ${missing.join(", ")}.`);
  const kept = only ? tools.filter(({ name }) => only.includes(name)) : tools;
  const known = new Set(kept.map(({ name }) => name));
  return {
    specs: kept.map(toSpec),
    async call({ id, name, input }, signal) {
      if (!known.has(name)) return failed(id, `TOOL_NOT_FOUND: ${name} is not among this agent's tools.`);
      try {
        const result = await client.callTool({ name, arguments: input }, { signal });
        return { id, parts: result.content.map(toPart), isError: result.isError === true };
      } catch (error) {
        if (signal.aborted) throw error;
        return failed(id, error instanceof Error ? error.message : String(error));
      }
    },
  };
}

const failed = (id: string, text: string) => ({
  id,
  parts: [{ type: "text", text }] as const,
  isError: true,
});

function toSpec({ name, description, inputSchema, annotations }: Tool): ToolSpec {
  const { $schema: _, ...schema } = inputSchema;
  return {
    name,
    description: description ?? "",
    input_schema: schema,
    readOnly: annotations?.readOnlyHint === true,
  };
}

type Content = Awaited<ReturnType<McpTools["callTool"]>>["content"][number];

/** A link becomes a line with its address, since a model's interface has no links; pictures stay pictures. */
function toPart(content: Content): ResultPart {
  switch (content.type) {
    case "text":
      return { type: "text", text: content.text };
    case "image":
      return { type: "image", mimeType: content.mimeType, base64: content.data };
    case "resource_link":
      return { type: "text", text: `file: ${content.uri} (${content.mimeType ?? content.name})` };
    default:
      return { type: "text", text: `(${content.type} left out)` };
  }
}
