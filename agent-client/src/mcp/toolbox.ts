import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import type { ResultPart, Toolbox, ToolCall, ToolSpec } from "../ports.ts";
import { inAttempts } from "./daemon.ts";

/** The part of an MCP client that the agent needs; the only door from the agent to devices. */
export type McpTools = Pick<Client, "listTools" | "callTool">;

/** A name of our own server: `mcp-server/src/server/createServer.ts`. */
const idempotencyKeyMeta = "dev.labwright/idempotency_key";

export type ToolboxOptions = {
  /** Gives the connection; another one when the one before was lost. */
  connect(): Promise<McpTools>;
  /** Whether a connection was lost, so that a call may be repeated under its key. */
  isLost(error: unknown): boolean;
  /** How long a tool may say nothing, in milliseconds. */
  silentMs(): number;
  newKey(): string;
};

/** Longer than any tool of ours may take. */
const maxTotalMs = 86_400_000;
const maxAttempts = 3;
const pauseMs = 200;

/** The tools of an MCP server. A call whose connection breaks is repeated under its key, so that it is done once. */
export function mcpToolbox(options: ToolboxOptions): Toolbox {
  let listed: Promise<readonly ToolSpec[]> | undefined;

  async function list(): Promise<readonly ToolSpec[]> {
    const { tools } = await (await options.connect()).listTools();
    return tools.map(toSpec);
  }

  async function callOnce({ name, input }: ToolCall, key: string, { signal, onProgress }: CallOptions) {
    const client = await options.connect();
    return client.callTool(
      { name, arguments: { ...input }, _meta: { [idempotencyKeyMeta]: key } },
      {
        signal,
        timeout: options.silentMs(),
        maxTotalTimeout: maxTotalMs,
        resetTimeoutOnProgress: true,
        onprogress: ({ message, progress }) => onProgress?.(message ?? String(progress)),
      },
    );
  }

  return {
    specs() {
      listed ??= list().catch((error: unknown) => {
        listed = undefined;
        throw error;
      });
      return listed;
    },
    async call(use, given) {
      const key = options.newKey();
      const may = (error: unknown) => !given.signal.aborted && options.isLost(error);
      try {
        return toResult(
          await inAttempts(() => callOnce(use, key, given), { left: maxAttempts, pauseMs, may }),
        );
      } catch (error) {
        if (given.signal.aborted) throw error;
        return failed(error);
      }
    },
  };
}

type CallOptions = Parameters<Toolbox["call"]>[1];

function failed(error: unknown) {
  const text = error instanceof Error ? error.message : String(error);
  return { parts: [{ type: "text", text }] as const, isError: true };
}

function toResult({ content, isError, structuredContent }: CallToolResult) {
  return {
    parts: content.map(toPart),
    isError: isError === true,
    ...(isObject(structuredContent) && { structured: structuredContent }),
  };
}

function toSpec({ name, description, inputSchema, annotations }: Tool): ToolSpec {
  const { $schema: _, ...schema } = inputSchema;
  return {
    name,
    description: description ?? "",
    input_schema: schema,
    readOnly: annotations?.readOnlyHint === true,
    destructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
  };
}

/** A link becomes a line with its address, since a model's interface has no links; pictures stay pictures. */
function toPart(content: CallToolResult["content"][number]): ResultPart {
  switch (content.type) {
    case "text":
      return { type: "text", text: content.text };
    case "image":
      return { type: "image", mimeType: content.mimeType, base64: content.data };
    case "resource_link":
      return { type: "text", text: `${content.name}: ${content.uri}` };
    default:
      return { type: "text", text: `(${content.type} left out)` };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
