import { McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSessions } from "#mcp-server/server/http/sessions.ts";
import { fakeClock } from "../fixtures/fakeClock.ts";
import { bearer, connectHttp, type HttpFixture, rpc, startHttp, whoAmI } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

const listening = (session: string) => ({
  ...bearer,
  accept: "text/event-stream",
  "mcp-session-id": session,
});

let http: HttpFixture;
beforeAll(async () => {
  http = await startHttp(wireServices(), [whoAmI()]);
});
afterAll(() => http.end());

it("30 clients at once each get their own answers, and all sessions end with their clients", async () => {
  const opened = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const mode = index % 2 === 0 ? "legacy" : ({ pin: "2026-07-28" } as const);
      return connectHttp(http.url("/mcp"), mode, { "x-labwright-client": `crowd/${index}` });
    }),
  );
  expect(http.sessions()).toBe(15);
  const seen = await Promise.all(
    opened.map(async ({ client }) => {
      const [{ tools }, { structuredContent }] = await Promise.all([
        client.listTools(),
        client.callTool({ name: "who_am_i", arguments: {} }),
      ]);
      return [tools.length, structuredContent];
    }),
  );
  expect(seen).toEqual(opened.map((_, index) => [1, { client: `crowd/${index}`, principal: "local" }]));
  await Promise.all(opened.map(({ transport }) => transport.terminateSession()));
  expect(http.sessions()).toBe(0);
  await Promise.all(opened.map(({ client }) => client.close()));
});

it("a 2025 client that names its method in a header, as mcp-remote does, is answered by its session", async () => {
  const { client, transport } = await connectHttp(http.url("/mcp"), "legacy", { "mcp-method": "tools/list" });
  expect((await client.listTools()).tools).toHaveLength(1);
  expect(transport.sessionId).toBeDefined();
  await transport.terminateSession();
  await client.close();
});

describe("a 2025 client that vanished", () => {
  const begin = async (server: HttpFixture, name: string) => {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
    const response = await rpc(server.url("/mcp"), { method: "initialize", params });
    await response.text();
    return response.headers.get("mcp-session-id");
  };

  it("loses its session, and what it held is given back", async () => {
    const clock = fakeClock();
    const server = await startHttp(wireServices(), [whoAmI()], { clock, sessionIdleMs: 60_000 });
    const session = await begin(server, "gone");
    await clock.advance(45_000);
    expect(server.sessions()).toBe(1);
    await clock.advance(30_000);
    expect(server.sessions()).toBe(0);
    expect(server.ended).toEqual([`gone/${session}`]);
    await server.end();
  });

  it("loses its session also while others come more often than sessions are checked", async () => {
    const clock = fakeClock();
    const server = await startHttp(wireServices(), [whoAmI()], { clock, sessionIdleMs: 60_000 });
    await begin(server, "gone");
    for (let at = 0; at < 6; at++) {
      await clock.advance(10_000);
      await begin(server, "next");
    }
    expect(server.ended).toEqual([expect.stringMatching(/^gone\//)]);
    await server.end();
  });

  it("keeps it while it listens", async () => {
    const clock = fakeClock();
    const server = await startHttp(wireServices(), [whoAmI()], { clock, sessionIdleMs: 60_000 });
    const session = (await begin(server, "listens")) ?? "";
    const listen = () => fetch(server.url("/mcp"), { headers: listening(session) });
    const stream = await listen();
    expect(stream.status).toBe(200);
    // The second request is refused, and must not count as another listener.
    expect((await listen()).status).toBe(409);
    await clock.advance(600_000);
    expect(server.sessions()).toBe(1);
    await stream.body?.cancel();
    await expect
      .poll(async () => {
        await clock.advance(75_000);
        return server.sessions();
      })
      .toBe(0);
    await server.end();
  });

  it("keeps it while it waits for the answer of a call", async () => {
    const clock = fakeClock();
    let answer = () => {};
    const slow = whoAmI();
    const waits = {
      ...slow,
      handle: async (given: Parameters<typeof slow.handle>[0]) => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return slow.handle(given);
      },
    };
    const server = await startHttp(wireServices(), [waits], { clock, sessionIdleMs: 1_000 });
    const headers = { "mcp-session-id": (await begin(server, "calls")) ?? "" };
    const params = { name: "who_am_i", arguments: {} };
    const before = answer;
    const called = await rpc(server.url("/mcp"), { method: "tools/call", params }, headers);
    await expect.poll(() => answer).not.toBe(before);
    await clock.advance(60_000);
    answer();
    expect(await called.text()).toContain('"principal":"local"');
    await server.end();
  });
});

describe("with as many sessions as there may be", () => {
  const sessionsOf = (maxSessions: number) => {
    const ended: string[] = [];
    const sessions = createSessions({
      createServer: () => new McpServer({ name: "test", version: "1" }),
      ...{ clock: fakeClock(), idleMs: 60_000, maxSessions, maxBodyBytes: 1_000_000 },
      onEnd: (_, host) => ended.push(host ?? ""),
    });
    const ask = (headers: Record<string, string>, body?: object) =>
      sessions.handle(
        new Request("http://127.0.0.1/mcp", {
          method: body ? "POST" : "GET",
          headers: { "content-type": "application/json", ...headers },
          ...(body && { body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }) }),
        }),
      );
    const accept = "application/json, text/event-stream";
    const open = async (name: string) => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
      const response = await ask({ accept }, { method: "initialize", params });
      await response.text();
      return response;
    };
    const idOf = (response: Response) => response.headers.get("mcp-session-id") ?? "";
    return { sessions, ended, ask, accept, open, idOf };
  };

  it("a new one ends the one that rests longest, and a request that opens none ends none", async () => {
    const { sessions, ended, ask, accept, open, idOf } = sessionsOf(2);
    await open("first");
    const second = await open("second");
    expect((await ask({ accept }, { method: "tools/list" })).status).toBe(400);
    expect(ended).toEqual([]);
    expect((await open("third")).status).toBe(200);
    expect(ended).toEqual(["first"]);
    expect((await ask({ accept, "mcp-session-id": idOf(second) }, { method: "ping" })).status).toBe(200);
    await Promise.all(["a", "b", "c", "d"].map(open));
    expect(sessions.count()).toBe(2);
    await sessions.close();
  });

  it("a new one is refused with how to go on while all are in use", async () => {
    const { sessions, ended, ask, open, idOf } = sessionsOf(1);
    const listening = { accept: "text/event-stream", "mcp-session-id": idOf(await open("first")) };
    const stream = await ask(listening);
    const refused = await ask(
      { accept: "application/json, text/event-stream" },
      { method: "initialize", params: {} },
    );
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("All 1 sessions are in use. Close one, or try again later.");
    await stream.body?.cancel();
    await expect.poll(async () => (await open("second")).status).toBe(200);
    expect(ended).toEqual(["first"]);
    await sessions.close();
  });
});
