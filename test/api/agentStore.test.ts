import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAgentStore } from "#mcp-server/agents/store.ts";
import { createAgentStoreApi } from "#mcp-server/agents/storeApi.ts";
import { agentsSchema } from "#mcp-server/config/agents.ts";
import { type AgentServer, startAgentServer } from "../fixtures/agentServer.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  const body = { id: "s", agent: "assistant", owner: "me", title: "t" };
  await server.request(`${root}/sessions`, { method: "POST", body });
});
afterAll(async () => {
  await server.end();
});

const root = "/server/agent/store";
const ask = (method: string, path: string, body?: unknown) =>
  server.request(`${root}${path}`, { method, ...(body !== undefined && { body }) });
const event = { type: "thinking", text: "t", session_id: "s", seq: 1, at: "2026-01-01T00:00:00.000Z" };
const message = { seq: 1, message: { role: "user", content: "hello" } };

describe("what is none of its form is refused, and says what", () => {
  it.each([
    ["POST", "/sessions", undefined, "expected object"],
    ["POST", "/sessions", { id: "x", agent: "a", owner: "o" }, "title"],
    ["POST", "/sessions", { id: "x", agent: "a", owner: "o", title: "t", more: 1 }, "more"],
    ["GET", "/sessions?limit=1001", undefined, "limit"],
    ["GET", "/sessions?owned=me", undefined, "owned"],
    ["GET", "/sessions/a%20b", undefined, "1 to 100"],
    ["PUT", "/sessions/s/hold", { holder: "a" }, "ttl_ms"],
    ["DELETE", "/sessions/s/hold", undefined, "holder"],
    ["POST", "/sessions/s/entries", [], "expected object"],
    ["POST", "/sessions/s/entries", { holder: "a", messages: [{ ...message, seq: 0 }] }, "messages.0.seq"],
    [
      "POST",
      "/sessions/s/entries",
      { holder: "a", messages: [{ seq: 1, message: "hi" }] },
      "messages.0.message",
    ],
    ["POST", "/sessions/s/entries", { holder: "a", messages: Array(1_001).fill(message) }, "messages"],
    ["POST", "/sessions/s/entries", { holder: "a", events: [{ ...event, at: "now" }] }, "events.0.at"],
    ["POST", "/sessions/s/entries", { holder: "a", events: [{ ...event, session_id: "x" }] }, '"x"'],
    ["POST", "/sessions/s/entries", { holder: "a", patch: { owner: "you" } }, "owner"],
    ["POST", "/sessions/s/entries", { holder: "a", patch: { cost_usd: -1 } }, "cost_usd"],
    ["GET", "/sessions/s/messages?after=-1", undefined, "after"],
    ["GET", "/sessions/s/events?limit=none", undefined, "limit"],
    ["GET", "/tasks?state=lost", undefined, "state"],
  ])("%s %s with %j", async (method, path, body, word) => {
    const { status, body: answer } = await ask(method, path, body);
    expect(status).toBe(400);
    expect(answer).toMatchObject({
      success: false,
      error: { code: "INVALID_INPUT", message: expect.stringContaining(word), http_status: 400 },
    });
  });

  it("a body that is not JSON", async () => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{" };
    const response = await server.fetch(`${root}/sessions`, init);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: "INVALID_INPUT" } },
    ]);
  });

  it("a request without the token", async () => {
    const { fetch: plain } = globalThis;
    const { url } = await server.fetch(`${root}/settings`, { method: "GET", headers: {} });
    expect((await plain(url)).status).toBe(401);
  });
});

it("says so when a conversation is not there", async () => {
  for (const [method, path, body] of [
    ["GET", "/sessions/none/messages", undefined],
    ["GET", "/sessions/none/events", undefined],
    ["PUT", "/sessions/none/hold", { holder: "a", ttl_ms: 1 }],
    ["POST", "/sessions/none/entries", { holder: "a" }],
  ] as const)
    expect(await ask(method, path, body)).toMatchObject({
      status: 404,
      body: { error: { code: "SESSION_NOT_FOUND", message: expect.stringContaining("none") } },
    });
  expect(await ask("GET", "/sessions/none")).toEqual({ status: 200, body: { session: null } });
  expect(await ask("DELETE", "/sessions/none")).toEqual({ status: 200, body: { deleted: false } });
});

it("gives the daemon's log what the cache of the model saved, and nothing else of a conversation", async () => {
  await ask("POST", "/sessions", { id: "cached", agent: "assistant", owner: "me", title: "t" });
  const own = { ...event, session_id: "cached" };
  const text = "[CACHE] Read 9 tokens from cache";
  const events = [own, { ...own, seq: 2, type: "progress", kind: "cache", text }];
  const stored = await ask("POST", "/sessions/cached/entries", { holder: "a", events });
  expect(stored.status).toBe(200);
  expect(server.logged).toEqual([`cached: ${text}`]);
});

it("stores texts that PostgreSQL refuses, with the refused characters replaced", async () => {
  const title = "nul \u0000 end";
  await ask("POST", "/sessions", { id: "odd", agent: "assistant", owner: "me", title });
  expect((await ask("GET", "/sessions/odd")).body).toMatchObject({ session: { title: "nul \ufffd end" } });
  await ask("POST", "/sessions/odd/entries", { holder: "a", patch: { title: "later \u0000" } });
  expect((await ask("GET", "/sessions/odd")).body).toMatchObject({ session: { title: "later \ufffd" } });
});

it("logs a fault of its own, and gives the caller no more than its trace", async () => {
  const faults: unknown[] = [];
  const broken = {
    ...createAgentStore({ db: server.storage.db, clock: server.clock, log: () => {} }),
    sessions: () => Promise.reject(new Error("password=hunter2")),
  };
  const api = createAgentStoreApi(
    broken,
    { settings: agentsSchema.parse({}), skills: () => [], policy: { judge: async () => undefined } },
    (error) => void faults.push(error),
  );
  const response = await api.request("/sessions");
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("hunter2");
  expect(faults.map(String)).toEqual(["Error: password=hunter2"]);
});
