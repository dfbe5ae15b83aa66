import type { Socket } from "socket.io-client";
import { describe, expect, it } from "vitest";
import {
  annasKey,
  ask,
  bad,
  heard,
  keys,
  ownerToken,
  startFixture as start,
  untilInterrupted,
} from "./apiFixture.ts";

describe("joining a session", () => {
  const word = (text: string) => ({ type: "message" as const, text });

  it("of another client finds none", async () => {
    const { connect, call } = await start({ api: { keys } });
    await call("POST", "/sessions");
    const socket = connect(annasKey);
    for (const [name, given] of [
      ["join_session", { session_id: "s1" }],
      ["send_message", { session_id: "s1", text: "hello" }],
      ["interrupt", { session_id: "s1" }],
      ["approve", { session_id: "s1", approval_id: "ap-1", approved: true }],
    ] as const) {
      expect(await ask(socket, name, given)).toMatchObject(bad("SESSION_NOT_FOUND"));
    }
  });

  it("again after the connection was lost says what was missed, and nothing twice", async () => {
    const { connect, call, conversations } = await start();
    await call("POST", "/sessions");
    const first = connect();
    const before = heard(first);
    await ask(first, "join_session", { session_id: "s1" });
    for (let i = 1; i <= 30; i += 1) conversations.tell("s1", word(`${i}`));
    await expect.poll(() => before.length).toBe(30);
    // The wire is cut, without a word of farewell.
    first.io.engine.close();
    await expect.poll(() => conversations.listeners("s1")).toBe(0);
    for (let i = 31; i <= 600; i += 1) conversations.tell("s1", word(`${i}`));

    const second = connect();
    const after = heard(second);
    const joined = ask(second, "join_session", { session_id: "s1", after: before.at(-1)?.seq });
    for (let i = 601; i <= 900; i += 1) {
      conversations.tell("s1", word(`${i}`));
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await joined).toEqual({ ok: true, session_id: "s1" });
    conversations.tell("s1", word("901"));
    await expect.poll(() => after.at(-1)).toMatchObject({ text: "901" });
    expect([...before, ...after].map(({ seq }) => seq)).toEqual(Array.from({ length: 901 }, (_, i) => i + 1));
  });

  it("twice says what comes once", async () => {
    const { connect, call, conversations } = await start();
    await call("POST", "/sessions");
    const socket = connect();
    const events = heard(socket);
    const join = () => ask(socket, "join_session", { session_id: "s1" });
    await Promise.all([join(), join(), join()]);
    expect(conversations.listeners("s1")).toBe(1);
    conversations.tell("s1", word("one"));
    conversations.tell("s1", word("two"));
    await expect.poll(() => events.at(-1)).toMatchObject({ text: "two" });
    expect(events).toHaveLength(2);
  });

  it("ends when it is left, and may begin again", async () => {
    const { connect, call, conversations } = await start();
    await call("POST", "/sessions");
    const socket = connect();
    const events = heard(socket);
    const given = { session_id: "s1" };
    await ask(socket, "join_session", given);
    conversations.tell("s1", word("heard"));
    expect(await ask(socket, "leave_session", given)).toEqual({ ok: true, ...given });
    expect(conversations.listeners("s1")).toBe(0);
    conversations.tell("s1", word("missed"));
    await ask(socket, "join_session", { ...given, after: 1 });
    conversations.tell("s1", word("live"));
    await expect.poll(() => events.length).toBe(3);
    expect(events).toMatchObject([{ text: "heard" }, { text: "missed" }, { text: "live" }]);
  });

  it("whose past cannot be read is refused, and hears nothing", async () => {
    const { connect, call, conversations, faults } = await start();
    await call("POST", "/sessions");
    conversations.events = () => Promise.reject(new Error("the store is gone"));
    const socket = connect();
    expect(await ask(socket, "join_session", { session_id: "s1" })).toMatchObject(bad("INTERNAL"));
    expect(conversations.listeners("s1")).toBe(0);
    expect(faults).toHaveLength(1);
  });

  it("is heard by every connection, and a client that takes nothing holds none of them up", async () => {
    const { connect, call, conversations } = await start();
    await call("POST", "/sessions");
    const [good, stuck] = [connect(), connect(ownerToken, { transports: ["websocket"] })];
    await ask(good, "join_session", { session_id: "s1" });
    await ask(stuck, "join_session", { session_id: "s1" });
    const events = heard(good);
    const text = "x".repeat(20_000);
    stopReading(stuck);
    for (let i = 0; i < 1_000; i += 1) conversations.tell("s1", word(text));
    await expect.poll(() => events.length, { timeout: 20_000 }).toBe(1_000);
    await expect.poll(() => conversations.listeners("s1"), { timeout: 40_000 }).toBe(1);
    const told = (await call("GET", "/sessions/s1/events?limit=1000")).body;
    expect(told).toMatchObject({ next: expect.any(Number) });
    conversations.tell("s1", word("last"));
    await expect.poll(() => events.at(-1), { timeout: 20_000 }).toMatchObject({ text: "last" });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  }, 90_000);
});

it("a client that reads nothing does not keep the API from closing", async () => {
  const { connect, close, conversations } = await start({ script: untilInterrupted });
  const socket = connect(ownerToken, { transports: ["websocket"] });
  await ask(socket, "send_message", { text: "hello" });
  stopReading(socket);
  await close();
  expect(conversations.listeners("s1")).toBe(0);
}, 20_000);

/** Nothing is read from the wire any more. */
function stopReading({ io: { engine } }: Socket): void {
  const { transport } = engine;
  if ("ws" in transport && hasPause(transport.ws)) transport.ws.pause();
}

function hasPause(value: unknown): value is { pause(): void } {
  return typeof value === "object" && value !== null && "pause" in value && typeof value.pause === "function";
}
