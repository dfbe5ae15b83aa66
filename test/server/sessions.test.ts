import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeClock } from "../fixtures/fakeClock.ts";
import { bearer, connectHttp, type HttpFixture, rpc, startHttp, whoAmI } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

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
    const { client, transport } = await connectHttp(server.url("/mcp"), "legacy");
    await client.callTool({ name: "who_am_i", arguments: {} });
    const stream = await fetch(server.url("/mcp"), {
      headers: { ...bearer, accept: "text/event-stream", "mcp-session-id": transport.sessionId ?? "" },
    });
    await clock.advance(600_000);
    expect(server.sessions()).toBe(1);
    await stream.body?.cancel();
    await client.close();
    await server.end();
  });
});
