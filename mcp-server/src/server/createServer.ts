import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
  TRACEPARENT_META_KEY,
} from "@modelcontextprotocol/server";
import type { Subset } from "../registry/subset.ts";
import { BridgeError, failedResult } from "./bridge/bridgeError.ts";
import { registerCatalogue } from "./catalogueResources.ts";
import { registerPrompts } from "./prompts.ts";
import { attachSkills } from "./skillsExtension.ts";

/** A `tools/call` as it came, with what its connection told of itself. */
export type ToolCall = {
  name: string;
  arguments: Record<string, unknown>;
  idempotency_key: string | undefined;
  traceparent: string | undefined;
  /** The name the host gives itself, if it gave one. */
  host: string | undefined;
  elicitation: boolean;
  signal: AbortSignal;
  /** Undefined when the host asked for no progress. */
  progress: ((done: number, total: number | undefined, message: string | undefined) => void) | undefined;
  http: Request | undefined;
  /** The session of a 2025-11-25 client over HTTP. */
  session: string | undefined;
};

/** What differs between daemon and bridge: who runs a call and who has the artifacts. */
export type Backend = {
  callTool(call: ToolCall): Promise<CallToolResult>;
  readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
};

export const idempotencyKeyMeta = "dev.labwright/idempotency_key";

/** Listings are a pure function of the build, so a client may keep them. */
const listingHint = { ttlMs: 60_000, cacheScope: "public" } as const;

/**
 * One MCP server for one connection (stdio, a session) or one request (stateless HTTP), for both protocol eras. Our own
 * `tools/list` and `tools/call` handlers stand on the inner server, because `registerTool` would validate before us.
 */
export function createServer({ catalogue, refusal }: Subset, backend: Backend): McpServer {
  const mcp = new McpServer(
    { name: "labwright", title: "Labwright", version: catalogue.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: catalogue.instructions,
      cacheHints: {
        "tools/list": listingHint,
        "prompts/list": listingHint,
        "resources/list": listingHint,
        "resources/templates/list": listingHint,
        "server/discover": listingHint,
      },
    },
  );
  registerArtifacts(mcp, backend);
  registerCatalogue(mcp, catalogue);
  registerPrompts(mcp);
  attachSkills(mcp, catalogue.skills);
  mcp.server.setRequestHandler("tools/list", () => ({ tools: catalogue.tools }));
  mcp.server.setRequestHandler("tools/call", (request, context) => {
    const { name } = request.params;
    const refused = refusal(name);
    if (refused) return failedResult(new BridgeError("TOOL_NOT_FOUND", refused.message, refused.hint));
    return backend.callTool({
      name,
      arguments: request.params.arguments ?? {},
      idempotency_key: textMeta(context, idempotencyKeyMeta),
      traceparent:
        textMeta(context, TRACEPARENT_META_KEY) ?? context.http?.req?.headers.get("traceparent") ?? undefined,
      host: hostName(mcp, context),
      elicitation: canAsk(mcp, context),
      signal: context.mcpReq.signal,
      progress: progressOf(context),
      http: context.http?.req,
      session: context.sessionId,
    });
  });
  return mcp;
}

function registerArtifacts(mcp: McpServer, backend: Backend): void {
  mcp.registerResource(
    "artifact",
    new ResourceTemplate("artifact://{sha256}", { list: undefined }),
    {
      title: "Artifact",
      description:
        "A file that a tool made: a screenshot, a report. Named by its sha256, so it never changes.",
      // What an address holds never changes, but only those with the token may have it.
      cacheHint: { ttlMs: 3_600_000, cacheScope: "private" },
    },
    (uri, _variables, context) => backend.readResource(uri.href, context.mcpReq.signal),
  );
}

function textMeta(context: ServerContext, key: string): string | undefined {
  const value: unknown = context.mcpReq._meta?.[key];
  return typeof value === "string" ? value : undefined;
}

/** 2026-07-28 requests say who sends them; before that the handshake did. */
function hostName(mcp: McpServer, context: ServerContext): string | undefined {
  const sent = envelopeOf(context)[CLIENT_INFO_META_KEY];
  const info = isSpecType.Implementation(sent) ? sent : mcp.server.getClientVersion();
  return info?.name;
}

function canAsk(mcp: McpServer, context: ServerContext): boolean {
  const declared = envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY] ?? mcp.server.getClientCapabilities();
  return isSpecType.ClientCapabilities(declared) && declared.elicitation !== undefined;
}

/** The SDK types the envelope as empty. */
const envelopeOf = (context: ServerContext): Readonly<Record<string, unknown>> =>
  context.mcpReq.envelope ?? {};

function progressOf(context: ServerContext): ToolCall["progress"] {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  return (done, total, message) => {
    // The protocol wants it to grow; a repeated call begins again at its first step.
    if (done <= last) return;
    last = done;
    const params = {
      progressToken,
      progress: done,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}
