import { randomUUID } from "node:crypto";
import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { ResultPart, Toolbox, ToolSpec } from "../ports.ts";
import { withRetries } from "./daemon.ts";

/** A name of our own server: `mcp-server/src/server/mcp/createServer.ts`. */
const idempotencyKeyMeta = "dev.labwright/idempotency_key";

export type ToolboxOptions = {
  /** Gives the connection; another one when the one before was lost. */
  connect(): Promise<Pick<Client, "listTools" | "callTool">>;
  /** Whether a connection was lost, so that a call may be repeated under its key. */
  isLost(error: unknown): boolean;
  /** How long a tool may say nothing, in milliseconds. */
  silentMs(): number;
  /** The text of a call that failed on its way; the error's message when left out. */
  failed?(error: unknown, tool: string): string;
};

/** Longer than any tool of ours may take. */
const maxTotalMs = 86_400_000;

/** The tools of an MCP server. A call whose connection breaks is repeated under its key, so that it is done once. */
export function mcpToolbox(options: ToolboxOptions): Toolbox {
  let listed: Promise<readonly ToolSpec[]> | undefined;

  async function list(): Promise<readonly ToolSpec[]> {
    const client = await options.connect();
    return (await client.listTools()).tools.map(toSpec);
  }

  return {
    specs() {
      listed ??= list().catch((error: unknown) => {
        listed = undefined;
        throw error;
      });
      return listed;
    },
    async call({ name, input }, { signal, onProgress }) {
      const _meta = { [idempotencyKeyMeta]: randomUUID() };
      const callOnce = async () => {
        const client = await options.connect();
        return client.callTool(
          { name, arguments: { ...input }, _meta },
          {
            signal,
            timeout: options.silentMs(),
            maxTotalTimeout: maxTotalMs,
            resetTimeoutOnProgress: true,
            onprogress: ({ message, progress }) => onProgress?.(message ?? String(progress)),
          },
        );
      };
      try {
        return toResult(await withRetries(callOnce, (error) => !signal.aborted && options.isLost(error)));
      } catch (error) {
        if (signal.aborted) throw error;
        const text =
          options.failed?.(error, name) ?? (error instanceof Error ? error.message : String(error));
        return { parts: [{ type: "text", text }], isError: true };
      }
    },
  };
}

function toResult({ content, isError, structuredContent }: CallToolResult) {
  return {
    parts: content.map(toPart),
    isError: isError === true,
    ...(isObject(structuredContent) && { structured: structuredContent }),
  };
}

/** What a tool of our own server says in its `_meta`: `mcp-server/src/registry/wire.ts`. */
const declaredSchema = z.object({
  "dev.labwright/capabilities": z.array(z.string()),
  "dev.labwright/domain": z.string(),
  "dev.labwright/timeout_ms": z.int(),
});

function toSpec({ name, description, inputSchema, annotations, _meta }: Tool): ToolSpec {
  const { $schema: _, ...schema } = inputSchema;
  const { data: declared } = declaredSchema.safeParse(_meta);
  return {
    name,
    description: description ?? "",
    input_schema: schema,
    readOnly: annotations?.readOnlyHint === true,
    destructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
    ...(declared && {
      capabilities: declared["dev.labwright/capabilities"],
      domain: declared["dev.labwright/domain"],
      timeout_ms: declared["dev.labwright/timeout_ms"],
    }),
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
      return { type: "text", text: `${content.name}: ${openedAt(content.description) ?? content.uri}` };
    default:
      return { type: "text", text: `(${content.type} left out)` };
  }
}

/** Of a report or log, the server says where a person opens it. */
const openedAt = (description: string | undefined) => /^Open (http\S+)$/.exec(description ?? "")?.[1];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
