import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ToolError } from "@labwright/mcp-server";
import { z } from "zod";
import { createApi, type EventSource } from "#mcp-server/api/index.ts";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { defineTool } from "#mcp-server/registry/tool.ts";
import type { CallOutcome, CallRequest } from "#mcp-server/server/call/callTool.ts";
import { createAddresses } from "#mcp-server/server/page/addresses.ts";
import type { ArtifactStore, StoredEvent } from "#mcp-server/services/index.ts";

type Tree = { name: string; children: Tree[] };
const treeSchema: z.ZodType<Tree> = z.strictObject({
  name: z.string(),
  get children(): z.ZodType<Tree[]> {
    return z.array(treeSchema);
  },
});

const lookAround = defineTool({
  name: "look_around",
  title: "Look around",
  description: "Looks.",
  domain: "screen",
  capabilities: ["SCREENSHOT"],
  effect: "read",
  timeoutMs: 1_000,
  input: z.strictObject({ where: z.string().optional() }),
  output: z.object({ seen: z.string() }),
  handle: async () => ({ seen: "it" }),
});
const plant = defineTool({
  name: "plant_tree",
  title: "Plant a tree",
  description: "Plants.",
  domain: "tree",
  capabilities: ["NAVIGATION_MODEL"],
  effect: "write",
  timeoutMs: 1_000,
  input: z.strictObject({ tree: treeSchema }),
  output: z.object({ tree: treeSchema }),
  handle: async ({ input }) => input,
});
export const registry = createRegistry([lookAround, plant]);

export const error = {
  code: "DEVICE_HELD",
  message: "browser is held by cursor.",
  hint: "Wait, or take it with force.",
  http_status: 409,
  details: { holder: "cursor" },
  trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
  timestamp: "2026-11-21T00:00:00.000Z",
} as const;

function memoryArtifacts(): ArtifactStore & { files: Map<string, { bytes: Uint8Array; mimeType: string }> } {
  const files = new Map<string, { bytes: Uint8Array; mimeType: string }>();
  const put: ArtifactStore["put"] = async (bytes, mimeType) => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    files.set(sha256, { bytes, mimeType });
    return { uri: `artifact://${sha256}`, sha256, mime_type: mimeType, bytes: bytes.length };
  };
  return {
    files,
    put,
    putFile: async (path, mimeType) => put(await readFile(path), mimeType),
    async get(sha256) {
      const file = files.get(sha256);
      if (file === undefined)
        throw new ToolError("ARTIFACT_NOT_FOUND", "There is no such artifact.", "Look it up again.");
      return file;
    },
    startingWith: async (prefix) => [...files.keys()].filter((name) => name.startsWith(prefix)),
  };
}

function memoryEvents(): EventSource & { add(count: number): void; listeners: Set<() => void> } {
  const events: StoredEvent[] = [];
  const listeners = new Set<() => void>();
  const cursors = new Map<string, number>();
  return {
    listeners,
    latestId: async () => events.length,
    add(count) {
      for (let i = 0; i < count; i++) {
        const id = events.length + 1;
        events.push({
          id,
          type: "testcase.completed",
          priority: "normal",
          source: "test",
          payload: { id },
          at: "2026-11-21T00:00:00.000Z",
        });
      }
      for (const listener of listeners) listener();
    },
    read: async ({ after, limit }) => events.filter(({ id }) => id > after).slice(0, limit),
    cursor: async (consumer) => cursors.get(consumer) ?? 0,
    async done(consumer, id) {
      cursors.set(consumer, Math.max(id, cursors.get(consumer) ?? 0));
      return cursors.get(consumer) ?? 0;
    },
    async subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The last pictures of lab/tv, all of other devices' are unknown. */
const recent = [1_000, 3_000].map((at) => ({ at, mimeType: "image/jpeg", bytes: Buffer.from([at / 1_000]) }));
const unknownDevice = () => new ToolError("DEVICE_NOT_FOUND", "There is none.", "Name another.");

/** The REST interface over a call path, artifacts and events that are kept in memory. */
export function start(
  outcome?: CallOutcome | ((request: CallRequest) => Promise<CallOutcome>),
  healthy = true,
) {
  const requests: CallRequest[] = [];
  const faults: unknown[] = [];
  const artifacts = memoryArtifacts();
  const events = memoryEvents();
  const api = createApi({
    callTool: async (request) => {
      requests.push(request);
      if (typeof outcome === "function") return outcome(request);
      return (
        outcome ?? {
          ok: true,
          tool: request.name,
          trace_id: error.trace_id,
          structured: { seen: "it" },
          text: "seen: it",
          attachments: [],
        }
      );
    },
    registry,
    events,
    artifacts,
    live: {
      watch: () => Promise.reject(unknownDevice()),
      recent(id) {
        if (id !== "lab/tv") throw unknownDevice();
        return recent;
      },
    },
    apps: {
      map: () => Promise.reject(new ToolError("USERINTERFACE_NOT_FOUND", "There is none.", "Name another.")),
    },
    reports: {
      view: () => Promise.reject(new ToolError("EXECUTION_NOT_FOUND", "There is none.", "Name another.")),
      compare: () => Promise.reject(new ToolError("EXECUTION_NOT_FOUND", "There is none.", "Name another.")),
    },
    addresses: createAddresses({ now: () => 0 }, () => 7333),
    memory: { list: async () => [], forget: async (id) => (id === undefined ? 2 : 1) },
    investigations: { stats: async () => ({ uses: [], spending: [] }) },
    audit: async (filter) => [filter],
    health: async () => ({ healthy, services: { database: healthy ? "ok" : "down" } }),
    principalOf: (request) => ({
      principal: "owner",
      client: request.headers.get("x-labwright-client") ?? "rest",
    }),
    version: "1.2.3",
    fault: (fault) => void faults.push(fault),
  });
  return { api, requests, faults, artifacts, events };
}

export const post = (body?: string, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  ...(body !== undefined && { body }),
});
