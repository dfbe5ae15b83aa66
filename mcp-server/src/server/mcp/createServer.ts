import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  type JSONRPCMessage,
  McpServer,
  type ServerContext,
  TRACEPARENT_META_KEY,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Subset } from "../../registry/subset.ts";
import { BridgeError, failedResult } from "../bridge/bridgeError.ts";
import type { Backend, ToolCall } from "./backend.ts";
import { registerCatalogue } from "./catalogueResources.ts";
import { serverIcon } from "./icons.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./registerResources.ts";
import { attachSkills } from "./skillsExtension.ts";
import { registerSubscriptions } from "./subscriptions.ts";
import { registerViews, showsViews, withViews } from "./views.ts";

const idempotencyKeyMeta = "dev.labwright/idempotency_key";

/** Listings are a pure function of the build, so a client may keep them. */
const listingHint = { ttlMs: 60_000, cacheScope: "public" } as const;
/** A listing that depends on the client's capabilities. */
const privateHint = { ...listingHint, cacheScope: "private" } as const;

/**
 * One MCP server for one connection (stdio, a session) or one request (stateless HTTP), for both protocol eras. Our own
 * `tools/list` and `tools/call` handlers are set on the inner server, because `registerTool` would validate before us.
 */
export function createServer({ catalogue, refusal }: Subset, backend: Backend): McpServer {
  const mcp = new TolerantServer(
    { name: "labwright", title: "Labwright", version: catalogue.version },
    {
      // No list ever changes: another list is at another address.
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false, subscribe: true },
      },
      instructions: catalogue.instructions,
      cacheHints: {
        "tools/list": listingHint,
        "prompts/list": listingHint,
        "resources/list": { ttlMs: 0, cacheScope: "private" },
        "resources/templates/list": listingHint,
        "server/discover": listingHint,
      },
    },
  );
  registerResources(mcp, backend);
  mcp.onRead = registerViews(mcp, backend);
  registerCatalogue(mcp, catalogue, backend);
  registerSubscriptions(mcp, backend);
  registerPrompts(mcp, catalogue.tools);
  attachSkills(mcp, catalogue.skills, backend);
  mcp.server.setRequestHandler("tools/list", (_, context) =>
    showsViews(capabilitiesOf(mcp, context))
      ? { tools: withViews(catalogue), ...privateHint }
      : { tools: catalogue.tools },
  );
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
      views: showsViews(capabilitiesOf(mcp, context)),
      signal: context.mcpReq.signal,
      progress: progressOf(context),
      http: context.http?.req,
      session: context.sessionId,
    });
  });
  return mcp;
}

/** Some hosts send `arguments: null` for a call without any, which the protocol's schema refuses before we see it. */
class TolerantServer extends McpServer {
  /** Called with the address of a resource before it is read. */
  onRead: (uri: unknown) => void = () => {};

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if ("method" in message && message.method === "resources/read") this.onRead(message.params?.uri);
      deliver?.(withArguments(message), extra);
    };
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(withIcon(message), options);
  }
}

/** 2025-11-25 has icons. Later versions send the server's name with each result, where an icon would be too large. */
function withIcon(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message) || !isSpecType.InitializeResult(message.result)) return message;
  const { serverInfo, ...result } = message.result;
  if (result.protocolVersion !== "2025-11-25") return message;
  return { ...message, result: { ...result, serverInfo: { ...serverInfo, icons: [serverIcon] } } };
}

function withArguments<Message extends JSONRPCMessage>(message: Message): Message {
  if (!("method" in message) || message.method !== "tools/call") return message;
  if (message.params?.arguments !== null) return message;
  return { ...message, params: { ...message.params, arguments: {} } };
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

const capabilitiesOf = (mcp: McpServer, context: ServerContext): unknown =>
  envelopeOf(context)[CLIENT_CAPABILITIES_META_KEY] ?? mcp.server.getClientCapabilities();

function canAsk(mcp: McpServer, context: ServerContext): boolean {
  const declared = capabilitiesOf(mcp, context);
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
