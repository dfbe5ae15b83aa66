import { describe, expect, it } from "vitest";
import { echo, ended, type Script } from "../../fixtures/fakeConversations.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { failure, ownerToken, startFixture } from "./apiFixture.ts";

const start = async (...given: Parameters<typeof startFixture>) => {
  const api = await startFixture(...given);
  await api.call("POST", "/sessions");
  return api;
};
const messages = "/sessions/s1/messages";
const untilInterrupted: Script = async ({ signal, tell }) => {
  tell({ type: "message", text: "I wait." });
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return ended("cancelled", "");
};

describe("a message", () => {
  it("is answered at once, and its run goes on", async () => {
    const { call, conversations } = await start();
    expect(await call("POST", messages, { body: { text: "hello" } })).toMatchObject({
      status: 202,
      body: { seq: 1 },
    });
    expect(await conversations.ended("s1", "local")).toMatchObject({ text: "You said: hello" });
  });

  it("is answered with all events but the pieces at the end of its run, when asked to wait", async () => {
    const { call } = await start();
    await call("POST", `${messages}?wait=true`, { body: { text: "before" } });
    const { status, body } = await call("POST", `${messages}?wait=true`, { body: { text: "hello" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      events: [
        { type: "skill_loaded", seq: 6 },
        { type: "message", text: "You said: hello" },
        { type: "session_ended" },
      ],
      end: { type: "session_ended", outcome: "done", text: "You said: hello" },
    });
  });

  it("has its run go on when the client that waits for it goes away", async () => {
    const { call, url, conversations, faults } = await start({ script: untilInterrupted });
    const gone = new AbortController();
    const waiting = fetch(`${url}/server/agent${messages}?wait=true`, {
      method: "POST",
      headers: { authorization: `Bearer ${ownerToken}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "hello" }),
      signal: gone.signal,
    });
    await expect
      .poll(async () => (await call("GET", "/sessions/s1")).body)
      .toMatchObject({ is_running: true });
    gone.abort();
    await expect(waiting).rejects.toThrow();
    expect((await call("GET", "/sessions/s1")).body).toMatchObject({ is_running: true });
    await call("POST", "/sessions/s1/interrupt");
    await expect.poll(() => conversations.listeners("s1")).toBe(0);
    expect(faults).toEqual([]);
  });

  it.each(["", "?wait=true"])("is refused while a run is under way (%s)", async (query) => {
    const { call, conversations } = await start({ script: untilInterrupted });
    const both = await Promise.all([
      call("POST", messages, { body: { text: "one" } }),
      call("POST", messages, { body: { text: "two" } }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(both.find(({ status }) => status === 409)?.body).toMatchObject(failure("SESSION_BUSY", 409));
    const later = await call("POST", `${messages}${query}`, { body: { text: "three" } });
    expect(later).toMatchObject({ status: 409, body: failure("SESSION_BUSY", 409) });
    expect(conversations.listeners("s1")).toBe(0);
  });

  it("is answered when the next one is taken", async () => {
    const gate = hold();
    const fixture = await start({ putAway: gate.pass });
    let isTold = false;
    const ending = fixture.call("POST", `${messages}?wait=true`, { body: { text: "one" } }).then(() => {
      isTold = true;
    });
    await gate.reached;
    expect(await fixture.call("POST", messages, { body: { text: "two" } })).toMatchObject({ status: 409 });
    expect(isTold).toBe(false);
    gate.open();
    await ending;
    expect(await fixture.call("POST", messages, { body: { text: "two" } })).toMatchObject({ status: 202 });
  });

  it("is not answered with the end of the run before it", async () => {
    const gate = hold();
    const { call, conversations } = await start({
      script: async ({ text }) => {
        await gate.pass();
        return ended("done", text);
      },
    });
    await call("POST", messages, { body: { text: "one" } });
    await gate.reached;
    const { subscribe } = conversations;
    conversations.subscribe = async (...given) => {
      const stop = await subscribe(...given);
      gate.open();
      await conversations.ended("s1", "local");
      return stop;
    };
    const answer = await call("POST", `${messages}?wait=true`, { body: { text: "two" } });
    expect(answer).toMatchObject({ status: 200, body: { events: [{ text: "two" }], end: { text: "two" } } });
    expect(conversations.listeners("s1")).toBe(0);
  });

  it.each([
    ["no text", {}],
    ["a text that is none", { text: 7 }],
    ["an unknown key", { text: "a", model: "b" }],
    ["an empty text", { text: "" }],
  ])("with %s is refused", async (_what, body) => {
    const { call } = await start();
    expect(await call("POST", messages, { body })).toMatchObject({
      status: 400,
      body: failure("INVALID_INPUT", 400),
    });
  });

  it("of 10 MB is refused in words, in a connection that holds", async () => {
    const { call } = await start();
    expect(await call("POST", messages, { body: { text: "a".repeat(10_000_000) } })).toMatchObject({
      status: 413,
      body: failure("INPUT_TOO_LARGE", 413),
    });
    expect((await call("GET", "/sessions/s1")).status).toBe(200);
  });

  it("of more than a request may have is refused in words too", async () => {
    const { call } = await start();
    const answer = await call("POST", messages, { body: { text: "a".repeat(13 * 1024 * 1024) } });
    expect(answer).toMatchObject({ status: 413, body: failure("INPUT_TOO_LARGE", 413) });
  });

  it.each([
    [1_000, 202],
    [10_000_000, 413],
    [13 * 1024 * 1024, 413],
  ])("whose length is not told beforehand is taken as others are: %i", async (length, status) => {
    const { url } = await start();
    const pieces = [`{"text":"`, "a".repeat(length), `"}`];
    const response = await fetch(`${url}/server/agent${messages}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ownerToken}`, "content-type": "application/json" },
      body: ReadableStream.from(pieces.map((piece) => Buffer.from(piece))),
      duplex: "half",
    });
    expect(response.status).toBe(status);
    if (status === 413) expect(await response.json()).toMatchObject(failure("INPUT_TOO_LARGE", 413));
  });

  it("reaches the conversation with the skill that was named", async () => {
    const { call, conversations } = await start({ script: echo });
    const given: unknown[] = [];
    const { send } = conversations;
    conversations.send = (id, owner, message) => {
      given.push([id, owner, message]);
      return send(id, owner, message);
    };
    await call("POST", messages, { body: { text: "go", skill: "run-script" } });
    expect(given).toEqual([["s1", "local", { text: "go", skill: "run-script" }]]);
  });
});
