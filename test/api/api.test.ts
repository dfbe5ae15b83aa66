import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createApi, type EventSource } from "../../mcp-server/src/api/index.ts";
import { openApiDocument } from "../../mcp-server/src/api/openapi.ts";
import { ToolError } from "../../mcp-server/src/errors.ts";
import { createRegistry } from "../../mcp-server/src/registry/registry.ts";
import { defineTool } from "../../mcp-server/src/registry/tool.ts";
import type { CallOutcome, CallRequest } from "../../mcp-server/src/server/call/callTool.ts";
import type { ArtifactStore, StoredEvent } from "../../mcp-server/src/services/ports.ts";

type Tree = { name: string; children: Tree[] };
const treeSchema: z.ZodType<Tree> = z.strictObject({
  name: z.string(),
  get children(): z.ZodType<Tree[]> {
    return z.array(treeSchema);
  },
});

const look = defineTool({
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
const registry = createRegistry([look, plant]);

const error = {
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

function start(outcome?: CallOutcome | ((request: CallRequest) => Promise<CallOutcome>), healthy = true) {
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

const post = (body?: string, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  ...(body !== undefined && { body }),
});

describe("GET /health", () => {
  it("has the seed's shape, and is 503 when a service is down", async () => {
    const up = await start().api.request("/health");
    expect(up.status).toBe(200);
    expect(await up.json()).toEqual({
      status: "healthy",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      services: { database: "ok" },
    });
    const down = await start(undefined, false).api.request("/health");
    expect(down.status).toBe(503);
    expect(await down.json()).toMatchObject({ status: "unhealthy", services: { database: "down" } });
  });
});

describe("GET /tools", () => {
  it("has the seed's shape with the strict schema of the arguments", async () => {
    const response = await start().api.request("/tools");
    const { tools } = z
      .object({ tools: z.array(z.record(z.string(), z.unknown())) })
      .parse(await response.json());
    expect(tools.map(({ name }) => name)).toEqual(["look_around", "plant_tree"]);
    expect(tools[0]).toEqual({
      name: "look_around",
      description: "Looks.",
      capabilities: ["SCREENSHOT"],
      domain: "screen",
      schema: { type: "object", properties: { where: { type: "string" } }, additionalProperties: false },
    });
    expect(JSON.stringify(tools[1]?.schema)).toContain("children");
  });
});

describe("POST /tools/:name", () => {
  it("passes arguments, caller, trace and key to the one path and gives its result back", async () => {
    const { api, requests } = start();
    const traceparent = `00-${error.trace_id}-00f067aa0ba902b7-01`;
    const headers = { traceparent, "idempotency-key": "k1", "x-labwright-client": "cli/1" };
    const response = await api.request("/tools/look_around", post('{"where": "here"}', headers));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      success: true,
      result: { seen: "it" },
      trace_id: error.trace_id,
    });
    expect(requests[0]).toMatchObject({
      name: "look_around",
      arguments: { where: "here" },
      principal: "owner",
      client: "cli/1",
      traceparent,
      idempotency_key: "k1",
    });
  });

  it("takes no body for no arguments", async () => {
    const { api, requests } = start();
    await api.request("/tools/look_around", { method: "POST" });
    expect(requests[0]?.arguments).toEqual({});
  });

  it("answers a failure with the seed's error object and its HTTP status", async () => {
    const { api } = start({ ok: false, tool: "look_around", trace_id: error.trace_id, error });
    const response = await api.request("/tools/look_around", post("{}"));
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({ success: false, error: { ...error } });
  });

  it("refuses a body that is not JSON before anything is called", async () => {
    const { api, requests } = start();
    const response = await api.request("/tools/look_around", post("{where: here}"));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      error: { code: "INVALID_INPUT", http_status: 400 },
    });
    expect(requests).toEqual([]);
  });

  it("gives pictures as links to stored artifacts", async () => {
    const { api } = start({
      ok: true,
      tool: "look_around",
      trace_id: error.trace_id,
      structured: { seen: "it" },
      text: "",
      attachments: [
        { kind: "image", mimeType: "image/png", bytes: new Uint8Array([1, 2, 3]), note: "the screen" },
        { kind: "link", uri: `artifact://${"a".repeat(64)}`, name: "full", mimeType: "image/png" },
      ],
    });
    const body = z
      .object({
        artifacts: z.array(
          z.object({ name: z.string(), uri: z.string(), href: z.string(), mime_type: z.string() }),
        ),
      })
      .parse(await (await api.request("/tools/look_around", post("{}"))).json());
    expect(body.artifacts.map(({ name }) => name)).toEqual(["the screen", "full"]);
    expect(body.artifacts[1]?.href).toBe(`/api/v1/artifacts/${"a".repeat(64)}`);
    const href = body.artifacts[0]?.href.replace("/api/v1", "") ?? "";
    expect(new Uint8Array(await (await api.request(href)).arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
  });

  it("cancels the call when the caller goes away", async () => {
    const controller = new AbortController();
    const { api } = start(
      ({ signal, name }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () =>
            resolve({
              ok: false,
              tool: name,
              trace_id: "",
              error: { ...error, code: "CANCELLED", http_status: 499 },
            }),
          );
          controller.abort();
        }),
    );
    const response = await api.request("/tools/look_around", { ...post("{}"), signal: controller.signal });
    expect(response.status).toBe(499);
  });
});

describe("GET /artifacts/:sha256", () => {
  it("gives the file with its type, kept for ever, and harmless if it is a page", async () => {
    const { api, artifacts } = start();
    const { sha256 } = await artifacts.put(Buffer.from("<script>alert(1)</script>"), "text/html");
    const response = await api.request(`/artifacts/${sha256}`);
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(response.headers.get("content-type")).toBe("text/html");
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    const again = await api.request(`/artifacts/${sha256}`, {
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });

  it.each([
    "a".repeat(64),
    "..%2f..%2fetc%2fpasswd",
    "A".repeat(64),
    "abc",
  ])("knows no artifact %s", async (name) => {
    const response = await start().api.request(`/artifacts/${name}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "ARTIFACT_NOT_FOUND" } });
  });
});

describe("GET /events", () => {
  it("pages in order from a cursor", async () => {
    const { api, events } = start();
    events.add(5);
    const first = z.object({ events: z.array(z.object({ id: z.number() })), next: z.number() });
    const page = first.parse(await (await api.request("/events?after=1&limit=2")).json());
    expect([page.events.map(({ id }) => id), page.next]).toEqual([[2, 3], 3]);
    const last = first.parse(await (await api.request("/events?after=5")).json());
    expect(last).toEqual({ events: [], next: 5 });
  });

  it("goes on where a consumer said that it was done, which never goes back", async () => {
    const { api, events } = start();
    events.add(5);
    const done = (after: number) =>
      api.request("/events/cursors/ci", {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ after }),
      });
    expect(await (await done(3)).json()).toEqual({ after: 3 });
    expect(await (await done(2)).json()).toEqual({ after: 3 });
    const page = z.object({ events: z.array(z.object({ id: z.number() })) });
    const read = async (query: string) =>
      page.parse(await (await api.request(`/events?${query}`)).json()).events.map(({ id }) => id);
    expect(await read("consumer=ci")).toEqual([4, 5]);
    expect(await read("consumer=ci&after=1")).toEqual([2, 3, 4, 5]);
    expect(await read("consumer=other")).toEqual([1, 2, 3, 4, 5]);
    expect((await done(-1)).status).toBe(400);
  });

  it.each([
    "after=-1",
    "consumer=a%20b",
    "after=x",
    "limit=0",
    "limit=1001",
    "limit=1.5",
  ])("refuses %s", async (query) => {
    const response = await start().api.request(`/events?${query}`);
    expect(response.status).toBe(400);
  });

  /** Reads ids until `wanted` have come. */
  async function readIds(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: number): Promise<number[]> {
    const decoder = new TextDecoder();
    let text = "";
    while ((text.match(/^id: /gm) ?? []).length < wanted) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the stream ended after ${text}`);
      text += decoder.decode(value, { stream: true });
    }
    return [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  }

  async function openStream(
    api: ReturnType<typeof start>["api"],
    path: string,
    headers: Record<string, string> = {},
  ) {
    const response = await api.request(path, { headers: { accept: "text/event-stream", ...headers } });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error("no body");
    return reader;
  }

  it("streams what is there and what comes, and resumes after Last-Event-ID", async () => {
    const { api, events } = start();
    events.add(2);
    const reader = await openStream(api, "/events");
    expect(await readIds(reader, 2)).toEqual([1, 2]);
    events.add(3);
    expect(await readIds(reader, 3)).toEqual([3, 4, 5]);
    await reader.cancel();

    const resumed = await openStream(api, "/events?after=0", { "last-event-id": "3" });
    expect(await readIds(resumed, 2)).toEqual([4, 5]);
    await resumed.cancel();
  });

  it("carries more than one page and listens no more once the reader has gone", async () => {
    const { api, events } = start();
    events.add(250);
    const reader = await openStream(api, "/events?after=0");
    expect(await readIds(reader, 250)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
    expect(events.listeners.size).toBe(1);
    await reader.cancel();
    events.add(1);
    await expect.poll(() => events.listeners.size).toBe(0);
  });
});

describe("everything else", () => {
  it("is answered with where to look", async () => {
    const response = await start().api.request("/nothing");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      error: { hint: expect.stringContaining("openapi.json") },
    });
  });

  it("does not show a fault of ours, but logs it", async () => {
    const { api, faults } = start(() => Promise.reject(new Error("password hunter22")));
    const response = await api.request("/tools/look_around", post("{}"));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("hunter22");
    expect(faults).toHaveLength(1);
  });
});

describe("the OpenAPI document", () => {
  it("describes each tool with its strict input and its output, recursive ones included", async () => {
    const document = await (await start().api.request("/openapi.json")).json();
    expect(document).toEqual(openApiDocument(registry.list(), "1.2.3"));
    expect(document).toMatchObject({
      openapi: "3.1.0",
      paths: {
        "/tools/look_around": { post: { operationId: "look_around", parameters: [] } },
        "/tools/plant_tree": { post: { parameters: [{ name: "Idempotency-Key" }] } },
        "/health": { get: { operationId: "health", responses: { 503: {} } } },
        "/tools": { get: { operationId: "tools" } },
        "/events": {
          get: {
            parameters: [
              { name: "after", in: "query", schema: { type: "integer", minimum: 0 } },
              { name: "consumer", in: "query", schema: { type: "string" } },
              { name: "limit", in: "query", schema: { minimum: 1, maximum: 1_000, default: 100 } },
            ],
          },
        },
        "/events/cursors/{consumer}": {
          get: { parameters: [{ name: "consumer", in: "path", required: true }] },
          put: { requestBody: { required: true } },
        },
        "/artifacts/{sha256}": { get: { parameters: [{ schema: { pattern: "^[0-9a-f]{64}$" } }] } },
      },
    });
  });

  it("has no reference that leads nowhere", () => {
    const document = openApiDocument(registry.list(), "1");
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(refs.some((ref) => ref.includes("plant_tree_input__"))).toBe(true);
    for (const ref of refs) {
      const found = ref
        .replace(/^#\//, "")
        .split("/")
        .reduce<unknown>((at, key) => z.record(z.string(), z.unknown()).parse(at)[key], document);
      expect(found, ref).toBeDefined();
    }
  });
});
