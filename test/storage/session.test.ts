import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SharedSession } from "#mcp-server/storage/engine/session.ts";

const ready = (state: string) => Buffer.from([0x5a, 0, 0, 0, 5, state.charCodeAt(0)]);

function query(sql: string): Buffer {
  const head = Buffer.alloc(5);
  head.write("Q", 0);
  head.writeInt32BE(Buffer.byteLength(sql) + 4, 1);
  return Buffer.concat([head, Buffer.from(sql)]);
}

const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]);

/** A session that records what it runs; `begin` opens a transaction, `commit` ends it, `trap` breaks. */
function scripted(waitMs = 5_000) {
  const ran: string[] = [];
  let state = "I";
  let gate: Promise<void> = Promise.resolve();
  const session = new SharedSession(
    {
      version: "18.0",
      async execute(bytes) {
        const sql = Buffer.from(bytes).toString("utf8", 5);
        await gate;
        ran.push(sql);
        if (sql.endsWith("trap")) throw new Error("unreachable executed");
        if (sql.endsWith("begin")) state = "T";
        if (sql.endsWith("commit")) state = "I";
        return ready(state);
      },
      async rollback() {
        ran.push("rollback");
        state = "I";
      },
      broken: () => ran.push("broken"),
    },
    waitMs,
  );
  const client = () => {
    const heard: string[] = [];
    const wire = session.attach({
      send: (bytes) => heard.push(Buffer.from(bytes).toString("latin1")),
      close: () => {},
    });
    wire.receive(startup);
    heard.length = 0;
    return { heard, run: (sql: string) => wire.receive(query(sql)), leave: () => wire.detach() };
  };
  return { ran, client, hold: (until: Promise<void>) => (gate = until) };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
const settle = () => vi.advanceTimersByTimeAsync(0);

it("says that its engine is broken after a trap, and not after an error", async () => {
  const { ran, client } = scripted();
  const one = client();
  one.run("select 1");
  await settle();
  expect(ran).not.toContain("broken");
  one.run("trap");
  await settle();
  expect(one.heard.join("")).toContain("PANIC");
  expect(ran.at(-1)).toBe("broken");
});

it("belongs to a client from begin to commit", async () => {
  const { ran, client } = scripted();
  const [a, b] = [client(), client()];
  a.run("a begin");
  b.run("b one");
  a.run("a two");
  await settle();
  expect(ran).toEqual(["a begin", "a two"]);
  a.run("a commit");
  await settle();
  expect(ran).toEqual(["a begin", "a two", "a commit", "b one"]);
});

it("refuses who waits for a transaction that is idle, and serves again when it ends", async () => {
  const { ran, client } = scripted(5_000);
  const [a, b] = [client(), client()];
  a.run("a begin");
  b.run("b late");
  await vi.advanceTimersByTimeAsync(4_999);
  expect(b.heard).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(b.heard.join()).toContain("55P03");
  a.run("a commit");
  b.run("b again");
  await settle();
  expect(ran).toEqual(["a begin", "a commit", "b again"]);
});

it("lets a transaction that works keep the others waiting", async () => {
  const { client } = scripted(5_000);
  const [a, b] = [client(), client()];
  a.run("a begin");
  b.run("b waits");
  for (let i = 0; i < 5; i++) {
    await vi.advanceTimersByTimeAsync(4_000);
    a.run("a works");
  }
  a.run("a commit");
  await settle();
  expect(b.heard).toHaveLength(1);
  expect(b.heard.join()).not.toContain("55P03");
});

it("rolls back the transaction of a client that leaves", async () => {
  const { ran, client } = scripted();
  const [a, b] = [client(), client()];
  a.run("a begin");
  b.run("b one");
  await settle();
  await a.leave();
  expect(ran).toEqual(["a begin", "rollback", "b one"]);
});

it("rolls back when the client left while its begin ran", async () => {
  const { ran, client, hold } = scripted();
  const [a, b] = [client(), client()];
  let go = () => {};
  hold(new Promise((resolve) => (go = resolve)));
  a.run("a begin");
  const left = a.leave();
  go();
  await left;
  b.run("b one");
  await settle();
  expect(ran).toEqual(["a begin", "rollback", "b one"]);
});

it("answers a fault of the engine as an error and goes on", async () => {
  const { client } = scripted();
  const a = client();
  a.run("a trap");
  a.run("a one");
  await settle();
  expect(a.heard[0]).toContain("XX000");
  expect(a.heard[0]).toContain("unreachable executed");
  expect(a.heard).toHaveLength(2);
});
