import { describe, expect, it } from "vitest";
import { ended } from "../../fixtures/fakeConversations.ts";
import { failure, startFixture as start } from "./apiFixture.ts";

describe("sessions over REST", () => {
  it("creates, shows, lists and deletes one", async () => {
    const { call } = await start();
    const created = await call("POST", "/sessions", { body: { title: "A look" } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      id: "s1",
      owner: "local",
      agent: "assistant",
      title: "A look",
      is_running: false,
      approvals: [],
    });
    expect((await call("GET", "/sessions/s1")).body).toEqual(created.body);
    expect((await call("GET", "/sessions")).body).toMatchObject({
      sessions: [{ id: "s1" }],
      suggestions: [{ text: "List the devices" }, { text: "Run goto" }, { text: "List the tests" }],
    });
    expect((await call("DELETE", "/sessions/s1")).status).toBe(204);
    expect(await call("GET", "/sessions/s1")).toMatchObject({
      status: 404,
      body: failure("SESSION_NOT_FOUND", 404),
    });
  });

  it("creates one without a body", async () => {
    const { call } = await start();
    expect(await call("POST", "/sessions")).toMatchObject({ status: 201 });
  });

  it("lists as many as asked, newest first", async () => {
    const { call } = await start();
    for (const title of ["a", "b", "c"]) await call("POST", "/sessions", { body: { title } });
    expect((await call("GET", "/sessions?limit=2")).body).toMatchObject({
      sessions: [{ title: "c" }, { title: "b" }],
    });
    expect(await call("GET", "/sessions?limit=0")).toMatchObject({ status: 400 });
    expect(await call("GET", "/sessions?limit=many")).toMatchObject({ status: 400 });
  });

  it("refuses an agent that people may not talk to", async () => {
    const { call } = await start();
    expect(await call("POST", "/sessions", { body: { agent: "monitor" } })).toMatchObject({
      status: 400,
      body: failure("AGENT_NOT_SELECTABLE", 400),
    });
  });

  it.each([
    ["an unknown key", { body: { nickname: "x" } }],
    ["a title that is no text", { body: { title: 7 } }],
    ["no object", { body: [] }],
    ["no JSON", { raw: "{", headers: { "content-type": "application/json" } }],
    ["another kind of body", { raw: "a=b", headers: { "content-type": "text/plain" } }],
  ])("refuses %s by name", async (_what, given) => {
    const { call, faults } = await start();
    expect(await call("POST", "/sessions", given)).toMatchObject({
      status: 400,
      body: failure("INVALID_INPUT", 400),
    });
    expect(faults).toEqual([]);
  });

  it("says what was reported page by page, without pieces", async () => {
    const { call } = await start();
    await call("POST", "/sessions");
    await call("POST", "/sessions/s1/messages?wait=true", { body: { text: "hello" } });
    const first = await call("GET", "/sessions/s1/events?limit=2");
    expect(first.body).toMatchObject({
      events: [
        { type: "skill_loaded", seq: 1 },
        { type: "message", seq: 4 },
      ],
      next: 4,
    });
    expect((await call("GET", "/sessions/s1/events?after=4")).body).toMatchObject({
      events: [{ type: "session_ended", seq: 5 }],
      next: 5,
    });
    expect((await call("GET", "/sessions/s1/events?after=5")).body).toEqual({ events: [], next: 5 });
    expect(await call("GET", "/sessions/s1/events?after=-1")).toMatchObject({ status: 400 });
  });

  it("interrupts what runs, and says when nothing did", async () => {
    const { call, conversations } = await start({
      script: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return ended("cancelled", "");
      },
    });
    await call("POST", "/sessions");
    expect((await call("POST", "/sessions/s1/interrupt")).body).toEqual({ interrupted: false });
    expect(await call("POST", "/sessions/s1/messages", { body: { text: "wait" } })).toMatchObject({
      status: 202,
      body: { seq: 1 },
    });
    expect((await call("GET", "/sessions/s1")).body).toMatchObject({ is_running: true });
    expect((await call("POST", "/sessions/s1/interrupt")).body).toEqual({ interrupted: true });
    expect(await conversations.ended("s1", "local")).toMatchObject({ outcome: "cancelled" });
  });

  it("hands on what a person decides, once", async () => {
    const { call, conversations } = await start({
      script: async ({ approval }) =>
        ended("done", (await approval("uninstall_app")) ? "approved" : "refused"),
    });
    await call("POST", "/sessions");
    await call("POST", "/sessions/s1/messages", { body: { text: "go" } });
    await expect
      .poll(async () => (await call("GET", "/sessions/s1")).body)
      .toMatchObject({ approvals: [{ approval_id: "ap-1", tool: "uninstall_app" }] });
    const path = "/sessions/s1/approvals/ap-1";
    expect(await call("POST", path, { body: { approved: "yes" } })).toMatchObject({ status: 400 });
    expect(await call("POST", path)).toMatchObject({ status: 400 });
    expect((await call("POST", path, { body: { approved: true } })).body).toEqual({ approved: true });
    expect(await conversations.ended("s1", "local")).toMatchObject({ text: "approved" });
    expect(await call("POST", path, { body: { approved: true } })).toMatchObject({
      status: 404,
      body: failure("APPROVAL_NOT_FOUND", 404),
    });
  });
});

describe("errors", () => {
  it("has one form for a path that is not there", async () => {
    const { call } = await start();
    expect(await call("GET", "/nothing")).toMatchObject({ status: 404, body: failure("NOT_FOUND", 404) });
    expect(await call("PATCH", "/sessions")).toMatchObject({ status: 404, body: failure("NOT_FOUND", 404) });
  });

  it("keeps the text of a fault of ours to the log, under the caller's trace id", async () => {
    const fault = new Error("the password is tulip");
    const logged: unknown[] = [];
    const { call, conversations } = await start({
      fault: (error, trace_id) => logged.push([error, trace_id]),
    });
    conversations.list = async () => {
      throw fault;
    };
    const trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    const answer = await call("GET", "/sessions", {
      headers: { traceparent: `00-${trace_id}-00f067aa0ba902b7-01` },
    });
    expect(answer).toMatchObject({ status: 500, body: failure("INTERNAL", 500) });
    expect(answer.body).toMatchObject({ error: { trace_id } });
    expect(JSON.stringify(answer.body)).not.toContain("tulip");
    expect(logged).toEqual([[fault, trace_id]]);
  });

  it("has headers that keep a browser from more than reading", async () => {
    const { call } = await start();
    for (const { headers } of [await call("GET", "/sessions"), await call("GET", "/nothing")]) {
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("strict-transport-security")).toBeNull();
    }
  });
});

describe("health", () => {
  it("says whether the server answers", async () => {
    const { call } = await start();
    expect(await call("GET", "/health")).toMatchObject({
      status: 200,
      body: { status: "healthy", server: true, model: "a-model" },
    });
  });

  it.each([
    ["does not answer", async () => ({ server: false, model: null })],
    ["cannot be asked", async () => Promise.reject(new Error("gone"))],
  ])("is 503 when the server %s", async (_what, health) => {
    const { call } = await start({ health });
    expect(await call("GET", "/health")).toMatchObject({
      status: 503,
      body: { status: "unhealthy", server: false, model: null },
    });
  });
});
