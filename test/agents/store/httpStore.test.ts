import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpStore, type StoreRequest, serverSettings } from "#agent-client/store/httpStore.ts";
import { type AgentServer, startAgentServer } from "../../fixtures/agentServer.ts";
import { describeStore, messagesOf, says } from "./contract.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ max_output_tokens: 4_096 });
});
afterAll(async () => {
  await server.end();
});
const store = () => httpStore(server.request);

describeStore("the store over the server's routes", () => ({
  store: store(),
  advance: (ms) => server.clock.advance(ms),
}));

it("gives the server's settings for agents, without who may come in", async () => {
  const settings = await serverSettings(server.request);
  expect(settings).toMatchObject({ max_output_tokens: 4_096, tool_timeout_seconds: 120 });
  expect(Object.keys(settings)).not.toContain("api");
});

it("keeps conversations over a restart of the server", async () => {
  await store().createSession({ id: "kept", agent: "assistant", owner: "o", title: "t" });
  await store().append("kept", "a", { messages: [says(1, "before")] });
  await server.goAway();
  await expect(store().messages("kept", { after: 0, limit: 1_000 })).rejects.toThrow("away");
  await server.comeBack();
  expect(await store().messages("kept", { after: 0, limit: 1_000 })).toEqual([says(1, "before")]);
});

it("stores more at a time than other paths take, and refuses more than that by name", async () => {
  await store().createSession({ id: "large", agent: "assistant", owner: "o", title: "t" });
  const picture = "A".repeat(11 * 1_048_576);
  await store().append("large", "a", { messages: [says(1, picture), says(2, picture)] });
  expect(await messagesOf(store(), "large")).toHaveLength(2);
  const more = "A".repeat(13 * 1_048_576);
  const over = store().append("large", "a", { messages: [says(3, more), says(4, more)] });
  await expect(over).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
});

describe("an answer that is none", () => {
  const over = (reply: { status: number; body: unknown }) =>
    httpStore((async () => reply) satisfies StoreRequest);
  const failure = (code: string) => ({
    success: false,
    error: { code, message: "No.", hint: "Do.", details: { a: 1 } },
  });

  it.each([
    [409, failure("SESSION_BUSY"), { code: "SESSION_BUSY", message: "No.", hint: "Do.", details: { a: 1 } }],
    [404, failure("SESSION_NOT_FOUND"), { code: "SESSION_NOT_FOUND" }],
    [400, failure("INVALID_INPUT"), { code: "INVALID_INPUT" }],
    [500, failure("STORAGE_FAILED"), { code: "INTERNAL", message: "No." }],
    [401, failure("UNAUTHORIZED"), { code: "SERVER_UNREACHABLE" }],
    [403, failure("HOST_DENIED"), { code: "SERVER_UNREACHABLE" }],
    [503, undefined, { code: "SERVER_UNREACHABLE", message: expect.stringContaining("503") }],
    [413, "<html>", { code: "INPUT_TOO_LARGE" }],
    [404, failure("NOT_FOUND"), { code: "INTERNAL" }],
    [200, "<html>", { code: "INTERNAL" }],
    [
      200,
      { messages: [{ seq: "1" }] },
      { code: "INTERNAL", message: expect.stringContaining("messages.0.seq") },
    ],
  ])("HTTP %i with %j is told by our codes", async (status, body, error) => {
    await expect(over({ status, body }).messages("s", { after: 0, limit: 1_000 })).rejects.toMatchObject({
      name: "AgentError",
      ...error,
    });
  });

  it("of the asking itself comes through as it is", async () => {
    const failing = httpStore(() => Promise.reject(new TypeError("fetch failed")));
    await expect(failing.findSession("s")).rejects.toThrow("fetch failed");
  });
});
