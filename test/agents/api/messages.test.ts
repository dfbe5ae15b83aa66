import { afterEach, describe, expect, it } from "vitest";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { type ApiFixture, failure, ownerToken, startFixture } from "./apiFixture.ts";
import { echo, ended, type Script } from "./fakeConversations.ts";

let api: ApiFixture | undefined;
const start = async (...given: Parameters<typeof startFixture>) => {
  api = await startFixture(...given);
  await api.call("POST", "/sessions");
  return api;
};
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const messages = "/sessions/s1/messages";
const untilInterrupted: Script = async ({ signal, tell }) => {
  tell({ type: "message", text: "I wait." });
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return ended("cancelled", "");
};

type Sent = { id: string; event: string; data: unknown };
const sent = (text: string): Sent[] =>
  text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => {
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? "";
      const data: unknown = JSON.parse(field("data"));
      return { id: field("id"), event: field("event"), data };
    });

const stream = ({ url }: ApiFixture, text: string, signal?: AbortSignal) =>
  fetch(`${url}/server/agent${messages}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ownerToken}`,
      "content-type": "application/json",
      accept: "text/event-stream",
    },
    body: JSON.stringify({ text }),
    ...(signal && { signal }),
  });

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

  it("is answered with its events one by one, pieces too, until the run ends", async () => {
    const fixture = await start();
    await fixture.call("POST", `${messages}?wait=true`, { body: { text: "before" } });
    const response = await stream(fixture, "a\nb");
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = sent(await response.text());
    expect(events.map(({ event, id }) => `${id} ${event}`)).toEqual([
      "6 skill_loaded",
      "7 message",
      "8 message",
      "9 message",
      "10 session_ended",
    ]);
    expect(events.at(-1)?.data).toMatchObject({ session_id: "s1", text: "You said: a\nb" });
    expect(fixture.conversations.listeners("s1")).toBe(0);
  });

  it("has its run go on when the client that was told of it goes away", async () => {
    const fixture = await start({ script: untilInterrupted });
    const gone = new AbortController();
    const response = await stream(fixture, "hello", gone.signal);
    await response.body?.getReader().read();
    gone.abort();
    await expect.poll(() => fixture.conversations.listeners("s1")).toBe(0);
    expect((await fixture.call("GET", "/sessions/s1")).body).toMatchObject({ is_running: true });
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
    await expect.poll(() => conversations.listeners("s1")).toBe(1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await expect.poll(() => conversations.listeners("s1")).toBe(0);
    expect((await call("GET", "/sessions/s1")).body).toMatchObject({ is_running: true });
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

  it.each(["?wait=true", ""])("is told to have ended when the next one is taken (%s)", async (query) => {
    const gate = hold();
    const fixture = await start({ putAway: gate.pass });
    const send = async () => {
      if (query === "") await (await stream(fixture, "one")).text();
      else await fixture.call("POST", messages + query, { body: { text: "one" } });
    };
    let isTold = false;
    const ending = send().then(() => {
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
      script: async () => {
        await gate.pass();
        return ended("done", "the one before");
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
    expect(answer).toMatchObject({ status: 409, body: failure("SESSION_BUSY", 409) });
    gate.open();
  });

  it("that is refused is answered as an error where a stream was asked for, and nobody listens on", async () => {
    const fixture = await start();
    const response = await stream(fixture, " ");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject(failure("INVALID_INPUT", 400));
    expect(fixture.conversations.listeners("s1")).toBe(0);
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
