import { randomUUID } from "node:crypto";
import type { AgentEvent, AgentStore, StoredMessage } from "@labwright/agent-client";
import { describe, expect, it } from "vitest";

/** A store, and the clock by which holders' times pass. */
export type StoreBench = { store: AgentStore; advance(ms: number): Promise<void> };
type Open = () => StoreBench;

export const second = 1_000;

type Content = Extract<StoredMessage["message"], { role: "user" }>["content"];

export const says = (seq: number, content: Content): StoredMessage => ({
  seq,
  message: { role: "user", content },
});

const told = (session_id: string, seq: number, text = `event ${seq}`): AgentEvent => ({
  ...{ type: "thinking", text, session_id, seq },
  at: "2026-01-01T00:00:00.000Z",
});

/** Ids and names of one test: a store may be shared with others. */
export function names() {
  const id = randomUUID();
  return { id, owner: `owner ${id}`, agent: `agent ${id}` };
}

/** All of them, a page at a time. */
export async function messagesOf(store: AgentStore, id: string): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (;;) {
    const page = await store.messages(id, { after: found.length, limit: 1_000 });
    if (page.length === 0) return found;
    found.push(...page);
  }
}

async function conversation(store: AgentStore) {
  const given = names();
  const session = await store.createSession({ ...given, title: "Run goto" });
  return { ...given, session };
}

/** What every `AgentStore` does. `open` is called in each test. */
export function describeStore(name: string, open: Open): void {
  describe(name, () => {
    describe("conversations", () => conversations(open));
    describe("what is appended", () => appending(open));
    describe("who may append", () => holding(open));
    describe("bad input", () => badInput(open));
  });
}

function conversations(open: Open): void {
  it("begin with nothing spent and are found again", async () => {
    const { store } = open();
    const { id, session, ...given } = await conversation(store);
    expect(session).toEqual({
      ...given,
      ...{ id, title: "Run goto", skill: null, outcome: null, cost_usd: 0, saved_usd: 0, turns: 0 },
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
      ...{ created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/), updated_at: session.created_at },
    });
    expect(await store.findSession(id)).toEqual(session);
    expect(await messagesOf(store, id)).toEqual([]);
    expect(await store.findSession(randomUUID())).toBeUndefined();
  });

  it("are made once when they are made again, and never another's", async () => {
    const { store } = open();
    const { id, agent, owner, session } = await conversation(store);
    expect(await store.createSession({ id, agent, owner, title: "again" })).toEqual(session);
    const stolen = store.createSession({ id, agent, owner: "another", title: "mine" });
    await expect(stolen).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await store.findSession(id)).toEqual(session);
  });

  it("are listed for their owner, newest first", async () => {
    const { store, advance } = open();
    const { owner, agent } = names();
    const ids = ["a", "b", "c"].map((prefix) => `${prefix}-${randomUUID()}`);
    for (const id of ids) {
      await advance(second);
      await store.createSession({ id, agent, owner, title: id });
    }
    const newest = [...ids].reverse();
    const listed = await store.sessions({ owner, limit: 2 });
    expect(listed.map(({ id }) => id)).toEqual(newest.slice(0, 2));
    expect((await store.sessions({ limit: 3 })).map(({ id }) => id)).toEqual(newest);
  });

  it("are deleted with all that belongs to them", async () => {
    const { store } = open();
    const { id, agent, owner } = await conversation(store);
    await store.append(id, "a", { messages: [says(1, "hello")], events: [told(id, 1)] });
    expect(await store.deleteSession(id)).toBe(true);
    expect(await store.deleteSession(id)).toBe(false);
    expect(await store.findSession(id)).toBeUndefined();
    await expect(messagesOf(store, id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(store.events(id, { after: 0, limit: 10 })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    await store.createSession({ id, agent, owner, title: "anew" });
    expect([await messagesOf(store, id), await store.events(id, { after: 0, limit: 10 })]).toEqual([[], []]);
  });
}

function appending(open: Open): void {
  it("comes back in order, as it was, in the order of its keys", async () => {
    const { store } = open();
    const { id } = await conversation(store);
    const odd = { zeta: 1, alpha: "\u0000 \ud800 é 😀", nested: { b: [null, true, 1.5], a: {} } };
    const messages: StoredMessage[] = [
      says(1, "Run goto"),
      {
        seq: 2,
        message: { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "goto", input: odd }] },
      },
      says(3, [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "done" }] }]),
    ];
    await store.append(id, "a", { messages: messages.slice(1) });
    await store.append(id, "a", { messages: messages.slice(0, 1) });
    expect(JSON.stringify(await messagesOf(store, id))).toBe(JSON.stringify(messages));
  });

  it("is read from a place on, as many as asked for", async () => {
    const { store } = open();
    const { id } = await conversation(store);
    const events = Array.from({ length: 25 }, (_, i) => told(id, i + 1));
    await store.append(id, "a", { events });
    expect(await store.events(id, { after: 3, limit: 4 })).toEqual(events.slice(3, 7));
    expect(await store.events(id, { after: 3, limit: 1_000 })).toEqual(events.slice(3));
    expect(await store.events(id, { after: 25, limit: 5 })).toEqual([]);
  });

  it("stays what it was when the same is sent again, also with what changed since", async () => {
    const { store, advance } = open();
    const { id } = await conversation(store);
    const first = { messages: [says(1, "one")], events: [told(id, 1)], patch: { turns: 1 } };
    await store.append(id, "a", first);
    await advance(second);
    await store.append(id, "a", { messages: [says(2, "two")], patch: { turns: 2, outcome: "done" } });
    const before = await store.findSession(id);
    await advance(second);
    await store.append(id, "a", first);
    await store.append(id, "a", { messages: [says(1, "other")], events: [told(id, 1, "other")] });
    expect(await store.findSession(id)).toEqual(before);
    expect(await messagesOf(store, id)).toEqual([says(1, "one"), says(2, "two")]);
    expect(await store.events(id, { after: 0, limit: 9 })).toEqual([told(id, 1)]);
  });

  it("changes what is said of the conversation, and only that", async () => {
    const { store, advance } = open();
    const { id, session } = await conversation(store);
    await advance(second);
    const usage = {
      ...{ input_tokens: 1, output_tokens: 2 },
      ...{ cache_creation_input_tokens: 3, cache_read_input_tokens: 4 },
    };
    const patch = {
      usage,
      skill: "run-script",
      cost_usd: 0.000123,
      saved_usd: -0.25,
      turns: 3,
      outcome: "limit",
    };
    await store.append(id, "a", { patch });
    const updated_at = new Date(Date.parse(session.updated_at) + second).toISOString();
    expect(await store.findSession(id)).toEqual({ ...session, ...patch, updated_at });
    await store.append(id, "a", { patch: { skill: null, title: "Named" } });
    expect(await store.findSession(id)).toMatchObject({ skill: null, title: "Named", turns: 3 });
  });

  it("holds a message of fifteen megabytes, and many large ones", async () => {
    const { store } = open();
    const { id } = await conversation(store);
    const picture = "A".repeat(15 * 1_048_576);
    await store.append(id, "a", { messages: [says(1, picture)] });
    const page = "B".repeat(3 * 1_048_576);
    for (const seq of [2, 3, 4, 5]) await store.append(id, "a", { messages: [says(seq, page)] });
    const found = await messagesOf(store, id);
    expect(found.map(({ seq, message }) => [seq, message.content?.length])).toEqual([
      [1, picture.length],
      ...[2, 3, 4, 5].map((seq) => [seq, page.length]),
    ]);
  });

  it("is all there or nothing", async () => {
    const { store } = open();
    const { id, session } = await conversation(store);
    const large = told(id, 2, "x".repeat(262_144));
    const given = { messages: [says(1, "one")], events: [told(id, 1), large], patch: { turns: 9 } };
    await expect(store.append(id, "a", given)).rejects.toMatchObject({ code: "INPUT_TOO_LARGE" });
    expect(await store.findSession(id)).toEqual(session);
    expect([await messagesOf(store, id), await store.events(id, { after: 0, limit: 9 })]).toEqual([[], []]);
  });
}

function holding(open: Open): void {
  it("is the holder alone, until its time is over or it lets go", async () => {
    const { store, advance } = open();
    const { id } = await conversation(store);
    expect(await store.hold(id, "a", 10 * second)).toBeDefined();
    expect(await store.hold(id, "b", 10 * second)).toBeUndefined();
    await expect(store.append(id, "b", { messages: [says(1, "b")] })).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
    await store.letGo(id, "b");
    await store.append(id, "a", { messages: [says(1, "a")] });
    await advance(9 * second);
    expect(await store.hold(id, "a", 10 * second)).toBeDefined();
    await advance(9 * second);
    expect(await store.hold(id, "b", second)).toBeUndefined();
    await advance(second);
    expect(await store.hold(id, "b", 10 * second)).toBeDefined();
    await expect(store.append(id, "a", { patch: { turns: 1 } })).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
    await store.letGo(id, "b");
    await store.append(id, "a", { messages: [says(2, "a again")] });
    expect(await messagesOf(store, id)).toEqual([says(1, "a"), says(2, "a again")]);
  });

  it("hears whether another may have added something since", async () => {
    const { store } = open();
    const { id, session } = await conversation(store);
    const asks = async (holder: string) => {
      const held = await store.hold(id, holder, second);
      await store.letGo(id, holder);
      return held;
    };
    expect(await asks("a")).toEqual({ session, is_changed: true });
    expect(await asks("a")).toEqual({ session, is_changed: false });
    expect(await asks("b")).toMatchObject({ is_changed: true });
    expect(await asks("a")).toMatchObject({ is_changed: true });
    expect(await asks("a")).toMatchObject({ is_changed: false });
  });

  it("is one of twenty who ask at once", async () => {
    const { store } = open();
    const { id } = await conversation(store);
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.hold(id, `holder ${i}`, second)),
    );
    expect(asked.filter(Boolean)).toHaveLength(1);
  });

  it("refuses to hold or to add to a conversation that is not there", async () => {
    const { store } = open();
    const { id } = names();
    await expect(store.hold(id, "a", second)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(store.append(id, "a", {})).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await store.letGo(id, "a");
  });
}

function badInput(open: Open): void {
  const invalid = { code: "INVALID_INPUT" };

  it.each(["", "x".repeat(101), "a b", "../other", "line\nbreak"])("refuses the id %j", async (id) => {
    const { store } = open();
    await expect(store.createSession({ ...names(), id, title: "t" })).rejects.toMatchObject(invalid);
  });

  it.each(["", "x".repeat(101), "nul\u0000"])("refuses the name %j", async (bad) => {
    const { store } = open();
    const { id, agent, owner } = await conversation(store);
    const fresh = { id: randomUUID(), agent, owner, title: "t" };
    await expect(store.createSession({ ...fresh, agent: bad })).rejects.toMatchObject(invalid);
    await expect(store.createSession({ ...fresh, owner: bad })).rejects.toMatchObject(invalid);
    await expect(store.append(id, bad, {})).rejects.toMatchObject(invalid);
    await expect(store.hold(id, bad, 1)).rejects.toMatchObject(invalid);
  });

  it.each([0, -1, 1.5, 86_400_001])("refuses to hold anything for %d ms", async (ttl) => {
    const { store } = open();
    const { id } = await conversation(store);
    await expect(store.hold(id, "a", ttl)).rejects.toMatchObject(invalid);
  });

  it("refuses an event of another conversation", async () => {
    const { store } = open();
    const { id } = await conversation(store);
    const stray = store.append(id, "a", { events: [told(randomUUID(), 1)] });
    await expect(stray).rejects.toMatchObject(invalid);
  });

  it("refuses a message over sixteen megabytes and an event over 256 KB", async () => {
    const { store } = open();
    const { id } = await conversation(store);
    const tooLarge = { code: "INPUT_TOO_LARGE" };
    const huge = store.append(id, "a", { messages: [says(1, "é".repeat(8 * 1_048_576))] });
    await expect(huge).rejects.toMatchObject(tooLarge);
    const event = { ...told(id, 1), text: "x".repeat(262_144) };
    await expect(store.append(id, "a", { events: [event] })).rejects.toMatchObject(tooLarge);
  });
}
