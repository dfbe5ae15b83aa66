import { type Context, Hono } from "hono";
import { ToolError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import type { Attachment } from "../registry/tool.ts";
import type { Caller, CallTool } from "../server/call/callTool.ts";
import { secretsIn } from "../server/http/clientHeaders.ts";
import type { Addresses } from "../server/page/addresses.ts";
import type { LiveFrames, Services } from "../services/index.ts";
import type { ArtifactStore, MemoryService } from "../services/ports.ts";
import { type AuditQuery, auditQueryOf } from "./audit.ts";
import { errorResponse, errorsOf, newTraceId, thrownResponse } from "./errors.ts";
import { createEventsApi, type EventSource } from "./events.ts";
import { planArgumentsOf } from "./executeTask.ts";
import { liveResponse } from "./live.ts";
import { forgottenIn, memoryQueryOf } from "./memory.ts";
import { comparisonResponse, liveAddress, mapResponse, recentResponse, runResponse } from "./page.ts";
import { skillStatsQueryOf } from "./skillStats.ts";
import { toolsOf } from "./tools.ts";

export type ApiDeps = {
  callTool: CallTool;
  registry: Registry;
  events: EventSource;
  artifacts: ArtifactStore;
  live: LiveFrames;
  apps: Pick<Services["userinterfaces"], "map">;
  reports: Pick<Services["reports"], "view" | "compare">;
  /** Signs addresses of files and live pictures, which a browser loads without the token. */
  addresses: Pick<Addresses, "sign" | "linkTo">;
  /** Who called what, newest first; see `auditQuerySchema`. Nothing secret in it. */
  audit(filter: AuditQuery): Promise<readonly object[]>;
  memory: Pick<MemoryService, "list" | "forget">;
  investigations: Pick<Services["investigations"], "stats">;
  /** One word per service, such as `database: "ok"`. */
  health(): Promise<{ healthy: boolean; services: Record<string, string> }>;
  /** Whose call a request is, after the server has let it in. */
  principalOf(request: Request): Caller;
  version: string;
  /** The longest any call may take, besides the tool's own limit. */
  maxCallMs?: number;
  /** A fault of ours, for the log. */
  fault(error: unknown, trace_id: string): void;
};

/** The REST interface, to be mounted at `/api/v1` behind the server's own checks of token, Host and Origin. */
export function createApi(deps: ApiDeps): Hono {
  const api = new Hono();
  const { registry } = deps;

  api.get("/health", async (c) => {
    const { healthy, services } = await deps.health();
    const status = healthy ? "healthy" : "unhealthy";
    return c.json({ status, timestamp: new Date().toISOString(), services }, healthy ? 200 : 503);
  });
  api.get("/tools", (c) => c.json({ tools: toolsOf(registry, c.req.queries(), deps.maxCallMs) }));
  api.get("/audit", async (c) => c.json({ calls: await deps.audit(auditQueryOf(c.req.query())) }));
  api.get("/memory", async (c) => c.json({ memory: await deps.memory.list(memoryQueryOf(c.req.query())) }));
  api.delete("/memory", async (c) => {
    return c.json({ forgotten: await deps.memory.forget(forgottenIn(c.req.query())) });
  });
  api.get("/skills/stats", async (c) =>
    c.json(await deps.investigations.stats(skillStatsQueryOf(c.req.query()).skill)),
  );
  api.get("/openapi.json", async (c) => {
    // The code that makes the document is large, and few ask for it.
    const { openApiDocument } = await import("./openapi.ts");
    return c.json(openApiDocument(registry.list(), deps.version));
  });
  api.post("/tools/:name", (c) => callResponse(c, deps));
  api.post("/agent/executeTask", (c) => taskResponse(c, deps));
  api.route("/events", createEventsApi(deps.events, deps.fault));
  api.get("/devices/:id{.+}/live", (c) => liveResponse(c, deps));
  api.get("/devices/:id{.+}/live-address", (c) => liveAddress(c, deps));
  api.get("/devices/:id{.+}/recent", (c) => recentResponse(c, deps));
  api.get("/devices/:id{.+}/recent/:at{\\d+}", (c) => recentResponse(c, deps));
  api.get("/apps/:id/map", (c) => mapResponse(c, deps));
  api.get("/executions/:id", (c) => runResponse(c, deps));
  api.get("/executions/:id/comparison", (c) => comparisonResponse(c, deps));
  api.get("/artifacts/:sha256", (c) => artifactResponse(c, deps.artifacts));

  api.notFound((c) => {
    const error = new ToolError(
      "INVALID_INPUT",
      `There is no ${c.req.method} ${c.req.path}.`,
      "See openapi.json next to it for the list of routes.",
    );
    return thrownResponse(error, newTraceId(), new Date());
  });
  return errorsOf(api, deps.fault);
}

const callFrom = (c: Context, deps: ApiDeps, name: string, args: unknown) =>
  deps.callTool({
    ...deps.principalOf(c.req.raw),
    name,
    arguments: args,
    signal: c.req.raw.signal,
    traceparent: c.req.header("traceparent"),
    idempotency_key: c.req.header("idempotency-key"),
    secrets: secretsIn(c.req.raw.headers),
  });

/** Answers with `{success, results, message}` and what else the plan's run says. */
async function taskResponse(c: Context, deps: ApiDeps): Promise<Response> {
  const outcome = await callFrom(c, deps, "execute_plan", planArgumentsOf(await readArguments(c)));
  return outcome.ok
    ? c.json({ ...outcome.structured, trace_id: outcome.trace_id })
    : errorResponse(outcome.error);
}

async function callResponse(c: Context, deps: ApiDeps): Promise<Response> {
  const outcome = await callFrom(c, deps, c.req.param("name") ?? "", await readArguments(c));
  if (!outcome.ok) return errorResponse(outcome.error);
  const artifacts = await Promise.all(outcome.attachments.filter(isFile).map((item) => toLink(item, deps)));
  return c.json({
    success: true,
    result: outcome.structured,
    ...(artifacts.length > 0 && { artifacts }),
    trace_id: outcome.trace_id,
  });
}

/** The body is the arguments; none at all means none. */
async function readArguments(c: Context): Promise<unknown> {
  const text = await c.req.text();
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `The body is not JSON: ${reason}.`,
      "Send the tool's arguments as one JSON object.",
    );
  }
}

/** Pictures are stored, so that the answer stays small. */
type File = Exclude<Attachment, { kind: "view" }>;
/** Views are for hosts of MCP. */
const isFile = (item: Attachment): item is File => item.kind !== "view";

async function toLink(item: File, { artifacts, addresses }: ApiDeps) {
  const link =
    item.kind === "link"
      ? item
      : {
          name: item.note,
          mimeType: item.mimeType,
          uri: (await artifacts.put(item.bytes, item.mimeType)).uri,
        };
  const sha256 = link.uri.replace(/^artifact:\/\//, "");
  return {
    ...{ name: link.name, uri: link.uri, href: `/api/v1/artifacts/${sha256}`, mime_type: link.mimeType },
    link: addresses.linkTo(link.uri),
  };
}

async function artifactResponse(c: Context, artifacts: ArtifactStore): Promise<Response> {
  const sha256 = c.req.param("sha256") ?? "";
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw new ToolError(
      "ARTIFACT_NOT_FOUND",
      "An artifact is named by 64 hexadecimal digits.",
      "Use the href or uri that a tool or report gave.",
    );
  }
  const { bytes, mimeType } = await artifacts.get(sha256);
  const headers = {
    "content-type": mimeType,
    "cache-control": "private, max-age=31536000, immutable",
    etag: `"${sha256}"`,
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    // An artifact may be a page that a device showed: it must not act here.
    "content-security-policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
  };
  if (c.req.header("if-none-match") === headers.etag) return new Response(null, { status: 304, headers });
  const part = partOf(c.req.header("range"), bytes.length);
  if (part === undefined) return new Response(new Uint8Array(bytes), { headers });
  const range = { "content-range": `bytes ${part.from}-${part.to}/${bytes.length}` };
  const body = new Uint8Array(bytes.subarray(part.from, part.to + 1));
  return new Response(body, { status: 206, headers: { ...headers, ...range } });
}

/** A player goes to a place in a video by a range of bytes (RFC 9110, 14.2). Any other range gets the whole file. */
function partOf(range: string | undefined, size: number): { from: number; to: number } | undefined {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  const from = Number(first);
  const to = Math.min(last ? Number(last) : size, size - 1);
  return from <= to ? { from, to } : undefined;
}
