import { io, type Socket } from "socket.io-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { ended } from "../../fixtures/fakeConversations.ts";
import {
  type ApiFixture,
  ask,
  bad,
  heard,
  ownerToken,
  rawGet,
  startFixture as start,
  untilInterrupted,
} from "./apiFixture.ts";
import { hmacJwt } from "./jwt.ts";

const secret = "0123456789abcdef0123456789abcdef";
const env = { JWT_SECRET: secret };

const refused = (socket: Socket) =>
  new Promise<unknown>((resolve, reject) => {
    socket.once("connect", () => reject(new Error("It was let in.")));
    socket.once("connect_error", (error) => resolve(("data" in error && error.data) || error.message));
  });
describe("a connection", () => {
  it.each([
    ["nobody", null],
    ["a wrong token", "wrong"],
  ])("of %s is refused with the reason", async (_what, token) => {
    const { connect } = await start();
    expect(await refused(connect(token))).toMatchObject({ code: "UNAUTHORIZED", http_status: 401 });
  });

  it("to no namespace of ours is refused", async () => {
    const { url } = await start();
    const socket = io(url, { auth: { token: ownerToken }, reconnection: false, forceNew: true });
    expect(await refused(socket)).toContain("/agent");
    socket.disconnect();
  });

  it.each(["polling", "websocket"])("from a page elsewhere is refused over %s", async (transport) => {
    const { connect } = await start();
    const extraHeaders = { origin: "https://evil.example" };
    await expect(refused(connect(ownerToken, { transports: [transport], extraHeaders }))).resolves.toMatch(
      /error/,
    );
  });

  it("under a strange name is refused", async () => {
    const { connect, port } = await start();
    const options = { transports: ["websocket"], extraHeaders: { host: `evil.example:${port}` } };
    await expect(refused(connect(ownerToken, options))).resolves.toMatch(/error/);
  });

  it("ends when its credentials do", async () => {
    let now = Date.now();
    const clock = { now: () => now, sleep: async () => {} };
    const { connect, conversations } = await start({
      api: { jwt: { secret_env: "JWT_SECRET" } },
      env,
      clock,
    });
    const exp = Math.floor(now / 1_000) + 60;
    const token = hmacJwt({ sub: "berta", exp }, secret, { alg: "HS256" });
    const [asks, hears] = [connect(token), connect(token)];
    expect(await ask(asks, "send_message", { text: "hello" })).toMatchObject({ ok: true });
    await ask(hears, "join_session", { session_id: "s1" });
    const events = heard(hears);
    now += 61_000;
    expect(await ask(asks, "send_message", { session_id: "s1", text: "again" })).toMatchObject(
      bad("UNAUTHORIZED"),
    );
    await expect.poll(() => asks.connected).toBe(false);
    conversations.tell("s1", { type: "message", text: "a secret" });
    await expect.poll(() => hears.connected).toBe(false);
    expect(JSON.stringify(events)).not.toContain("a secret");
  });

  it("closes with the API, and with what it heard", async () => {
    const { connect, close, conversations } = await start({ script: untilInterrupted });
    const socket = connect();
    await ask(socket, "send_message", { text: "hello" });
    await close();
    await expect.poll(() => socket.connected).toBe(false);
    expect(conversations.listeners("s1")).toBe(0);
  });
});

describe("a message over a socket", () => {
  it("starts a session and reports its events in order", async () => {
    const { connect } = await start();
    const socket = connect();
    const events = heard(socket);
    expect(await ask(socket, "send_message", { text: "hello" })).toEqual({
      ok: true,
      session_id: "s1",
      seq: 1,
    });
    await expect.poll(() => events.at(-1)?.type).toBe("session_ended");
    expect(events.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      "1 skill_loaded",
      "2 message",
      "3 message",
      "4 message",
      "5 session_ended",
    ]);
    await ask(socket, "send_message", { session_id: "s1", text: "more" });
    await expect.poll(() => events.length).toBe(10);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("does not stop hearing a session to hear it again", async () => {
    const { connect, conversations } = await start();
    let asked = 0;
    const { subscribe } = conversations;
    conversations.subscribe = (...given) => {
      asked += 1;
      return subscribe(...given);
    };
    const socket = connect();
    for (const text of ["one", "two"]) {
      await ask(socket, "send_message", asked === 0 ? { text } : { session_id: "s1", text });
      await conversations.ended("s1", "local");
    }
    expect(asked).toBe(1);
  });

  it("reports only what is new in a session that was not joined", async () => {
    const { connect, call } = await start();
    await call("POST", "/sessions");
    await call("POST", "/sessions/s1/messages?wait=true", { body: { text: "before" } });
    const socket = connect();
    const events = heard(socket);
    await ask(socket, "send_message", { session_id: "s1", text: "now" });
    await expect.poll(() => events.map(({ seq }) => seq)).toEqual([6, 7, 8, 9, 10]);
  });

  it("is refused while a run is under way, and the session stays", async () => {
    const { connect, conversations } = await start({ script: untilInterrupted });
    const socket = connect();
    await ask(socket, "send_message", { text: "one" });
    const again = { session_id: "s1", text: "two" };
    expect(await ask(socket, "send_message", again)).toMatchObject(bad("SESSION_BUSY"));
    expect(conversations.removed).toEqual([]);
    const session_id = "s1";
    expect(await ask(socket, "interrupt", { session_id })).toEqual({
      ok: true,
      session_id,
      interrupted: true,
    });
  });

  it("of 10 MB is refused in words and leaves no session", async () => {
    const { connect, conversations } = await start();
    const socket = connect();
    expect(await ask(socket, "send_message", { text: "a".repeat(10_000_000) })).toMatchObject(
      bad("INPUT_TOO_LARGE"),
    );
    expect(socket.connected).toBe(true);
    expect(conversations.removed).toEqual(["s1"]);
  });

  it.each([
    ["send_message", undefined],
    ["send_message", "hello"],
    ["send_message", { text: 7 }],
    ["send_message", { text: "a", model: "b" }],
    ["join_session", {}],
    ["join_session", { session_id: "s1", after: -1 }],
    ["interrupt", {}],
    ["approve", { approval_id: "ap-1", approved: true }],
    ["approve", { session_id: "s1", approval_id: "ap-1" }],
    ["approve", null],
    ["leave_session", {}],
  ])("or another event with what is none is refused: %s %j", async (name, given) => {
    const { connect, faults } = await start();
    const socket = connect();
    expect(await ask(socket, name, given)).toMatchObject(bad("INVALID_INPUT"));
    expect(faults).toEqual([]);
  });

  it("that no one acknowledges is refused as an `error`", async () => {
    const { connect } = await start();
    const socket = connect();
    const error = new Promise((resolve) => socket.once("error", resolve));
    socket.emit("send_message", { text: "" });
    expect(await error).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("counts with the requests of its owner", async () => {
    const { connect, call } = await start({ api: { requests_per_minute: 3 } });
    const socket = connect();
    expect(await ask(socket, "send_message", { text: "one" })).toMatchObject({ ok: true });
    await call("GET", "/sessions");
    expect(await ask(socket, "send_message", { text: "two" })).toMatchObject(bad("RATE_LIMITED"));
  });

  it("waits for a person", async () => {
    const { connect, conversations } = await start({
      script: async ({ approval }) => ended("done", (await approval("uninstall_app")) ? "yes" : "no"),
    });
    const socket = connect();
    const events = heard(socket);
    await ask(socket, "send_message", { text: "go" });
    await expect.poll(() => events.at(-1)?.type).toBe("approval_required");
    const given = { session_id: "s1", approval_id: "ap-1", approved: true };
    expect(await ask(socket, "approve", given)).toEqual({ ok: true, ...given });
    expect(await conversations.ended("s1", "local")).toMatchObject({ text: "yes" });
    expect(await ask(socket, "approve", given)).toMatchObject(bad("APPROVAL_NOT_FOUND"));
  });
});

describe("on a port that other machines reach", () => {
  const behind = (trustedProxy: string) => ({
    hosts: ["lab.example"],
    origins: ["https://pages.example"],
    listen: { host: "0.0.0.0", trustedProxy },
  });
  const open = ({ port }: ApiFixture, transport: string, headers: Record<string, string>) => {
    const socket = io(`http://127.0.0.1:${port}/agent`, {
      auth: { token: ownerToken },
      transports: [transport],
      extraHeaders: headers,
      reconnection: false,
      forceNew: true,
    });
    onTestFinished(() => void socket.disconnect());
    return socket;
  };

  describe.each(["polling", "websocket"])("over %s", (transport) => {
    it("a connection of another Origin is refused", async () => {
      const fixture = await start(behind("127.0.0.1"));
      const socket = open(fixture, transport, { origin: "https://evil.example" });
      await expect(refused(socket)).resolves.toMatch(/error/);
    });

    it("a connection of an allowed Origin is served", async () => {
      const fixture = await start(behind("127.0.0.1"));
      const socket = open(fixture, transport, { origin: "https://pages.example" });
      expect(await ask(socket, "send_message", { text: "hello" })).toMatchObject({ ok: true });
    });

    it("a connection that is not the trusted proxy's is refused", async () => {
      const fixture = await start(behind("192.0.2.7"));
      await expect(refused(open(fixture, transport, {}))).resolves.toMatch(/error/);
    });
  });

  it("a connection of another Host is refused, one of an allowed Host is served", async () => {
    const fixture = await start(behind("127.0.0.1"));
    await expect(refused(open(fixture, "websocket", { host: "evil.example" }))).resolves.toMatch(/error/);
    const socket = open(fixture, "websocket", { host: "lab.example" });
    expect(await ask(socket, "send_message", { text: "hello" })).toMatchObject({ ok: true });
    const polling = "/socket.io/?EIO=4&transport=polling";
    expect(await rawGet(fixture.port, polling, { host: "evil.example" })).toMatchObject({ status: 403 });
    expect(await rawGet(fixture.port, polling, { host: "lab.example" })).toMatchObject({ status: 200 });
  });
});
