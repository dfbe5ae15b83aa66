import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import {
  agentSessionRows,
  agentTaskRows,
  type Database,
  eventRows,
  investigationRows,
  roleMessageRows,
  type Storage,
} from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const start = Date.parse("2030-01-01T00:00:00.000Z");
const minute = (n: number) => new Date(start + n * 60_000).toISOString();
const hold = (holder: string, now = 0) => ({ holder, now: minute(now), until: minute(now + 5) });
const claimOf = (holder: string, now = 0, max_parallel = 99) => ({ ...hold(holder, now), max_parallel });
const entry = (seq: number, text = `entry ${seq}`) => ({ seq, body: { type: "thinking", text } });
const many = (count: number) => Array.from({ length: count }, (_, i) => i);
const task = (key: string, priority: "critical" | "high" | "normal" = "normal") => ({
  ...{ agent: "monitor", key, priority, event: { id: 1 } },
});

async function newSession(db: Database, id: string) {
  const rows = agentSessionRows(db);
  await rows.insert({ id, agent: "assistant", owner: "me", title: "t" }, minute(0));
  return rows;
}

function roleMessages(db: () => Database): void {
  it("keeps each message once, in order, by its correlation id and owner", async () => {
    const rows = roleMessageRows(db());
    const message = (message_id: string, correlation_id: string, owner = "me", at = 0) =>
      rows.insert({ message_id, correlation_id, owner, at: minute(at), body: { message_id } });
    await message("m1", "c1");
    await message("m2", "c2");
    await message("m3", "c1", "other");
    await message("m4", "c1", "me", 1);
    // As a repeated request does.
    await message("m1", "c1");
    const list = async (after = 0) => {
      const found = await rows.list({ correlation_id: "c1", owner: "me", after, limit: 10 });
      return { ids: found.map(({ message_id }) => message_id), last: found.at(-1)?.seq ?? after };
    };
    expect((await list()).ids).toEqual(["m1", "m4"]);
    expect((await list((await list()).last)).ids).toEqual([]);
    await rows.purge(minute(1));
    expect((await list()).ids).toEqual(["m4"]);
  });
}

function conversations(db: () => Database): void {
  it("keeps an entry as text, its keys in order, with characters that jsonb refuses", async () => {
    const rows = await newSession(db(), "text");
    const body = { zeta: 1, alpha: "\u0000 \ud800", list: [{ b: 1, a: null }] };
    await rows.append("text", { messages: [{ seq: 1, body }], events: [], patch: {} }, hold("a"));
    const [found] = await rows.messages("text", { after: 0, limit: 9, bytes: 1_000 });
    expect(JSON.stringify(found?.body)).toBe(JSON.stringify(body));
  });

  it("ends a page where its entries are large, but gives one at least", async () => {
    const rows = await newSession(db(), "pages");
    const events = many(6).map((i) => entry(i + 1, "x".repeat(1_000)));
    await rows.append("pages", { messages: [], events, patch: {} }, hold("a"));
    const seqs = async (after: number, limit: number, bytes: number) =>
      (await rows.events("pages", { after, limit, bytes })).map(({ seq }) => seq);
    expect(await seqs(0, 9, 2_500)).toEqual([1, 2, 3]);
    expect(await seqs(3, 2, 9_000)).toEqual([4, 5]);
    expect(await seqs(2, 9, 1)).toEqual([3]);
    expect(await seqs(6, 9, 9_000)).toEqual([]);
  });

  it("adds what thirty bring at once, each entry once", async () => {
    const rows = await newSession(db(), "race");
    await Promise.all(
      many(30).map((i) =>
        rows.append("race", { messages: [entry((i % 10) + 1)], events: [], patch: {} }, hold("a")),
      ),
    );
    const found = await rows.messages("race", { after: 0, limit: 99, bytes: 99_999 });
    expect(found.map(({ seq }) => seq)).toEqual(many(10).map((i) => i + 1));
  });

  it("sums tokens and money of the conversations that used a skill", async () => {
    const skill = `parcels-${randomUUID()}`;
    const usage = { output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 70 };
    for (const [cost_usd, used] of [
      [0.25, skill],
      [0.5, skill],
      [9, "letters"],
    ] as const) {
      const id = randomUUID();
      const rows = await newSession(db(), id);
      const patch = { skill: used, cost_usd, usage: { input_tokens: 25, ...usage } };
      await rows.append(id, { messages: [], events: [], patch }, hold("a"));
    }
    expect(await investigationRows(db()).spending(skill)).toEqual([
      { skill, conversations: 2, tokens: 200, cost_usd: 0.75 },
    ]);
  });

  it("lets a conversation's end wait for what is being added, and leaves nothing of it", async () => {
    const rows = await newSession(db(), "gone");
    await rows.append("gone", { messages: [entry(1)], events: [entry(1)], patch: {} }, hold("a"));
    expect(await rows.remove("gone")).toBe(true);
    const { rows: left } = await db().execute(
      sql`select (select count(*) from agent_messages where session_id = 'gone') as messages, (select count(*) from agent_events where session_id = 'gone') as events`,
    );
    expect(left).toEqual([{ messages: 0, events: 0 }]);
    const late = await rows.append("gone", { messages: [entry(2)], events: [], patch: {} }, hold("a"));
    expect(late).toBe("missing");
  });

  it("is held by one of fifty who ask at once", async () => {
    const rows = await newSession(db(), "held");
    const asked = await Promise.all(many(50).map((i) => rows.hold("held", hold(`holder ${i}`))));
    expect(asked.filter(Boolean)).toHaveLength(1);
    expect(await rows.held(minute(4))).toBe(1);
    expect(await rows.held(minute(5))).toBe(0);
  });
}

function tasks(db: () => Database): void {
  it("gives each of twenty who claim at once another task, the urgent ones first", async () => {
    const rows = agentTaskRows(db());
    for (const i of many(12)) await rows.insert(task(`t${i}`, i < 6 ? "normal" : "critical"), minute(0));
    const claimed = await Promise.all(many(20).map((i) => rows.claim("monitor", claimOf(`w${i}`))));
    const keys = claimed.flatMap((found) => found?.key ?? []);
    expect(new Set(keys).size).toBe(12);
    expect(keys).toHaveLength(12);
    expect((await rows.claim("monitor", claimOf("later", 5)))?.priority).toBe("critical");
  });

  it("gives no more than may run, and no task twice, to twenty who claim at once", async () => {
    const rows = agentTaskRows(db());
    for (const i of many(9)) await rows.insert({ ...task(`t${i}`), agent: "limited" }, minute(0));
    const claim = (now: number) =>
      Promise.all(many(20).map((i) => rows.claim("limited", claimOf(`w${i}`, now, 3))));
    const [first, later] = [await claim(0), await claim(5)].map((tasks) =>
      tasks.flatMap((one) => one?.key ?? []),
    );
    expect([first?.length, new Set(first).size]).toEqual([3, 3]);
    expect(later?.toSorted()).toEqual(first?.toSorted());
  });

  it("gives what its holder left, and the former holder changes nothing more", async () => {
    const rows = agentTaskRows(db());
    await rows.insert({ ...task("left"), agent: "analyzer" }, minute(0));
    const first = await rows.claim("analyzer", claimOf("a"));
    const id = first?.id ?? 0;
    await rows.update(id, { finding: { z: 1, a: 2 } }, { holder: "a", now: minute(1), until: minute(7) });
    expect(await rows.claim("analyzer", claimOf("b", 6))).toBeUndefined();
    expect(await rows.claim("analyzer", claimOf("b", 7))).toMatchObject({
      id,
      attempts: 2,
      finding: { z: 1, a: 2 },
    });
    expect(await rows.update(id, { state: "done" }, { holder: "a", now: minute(8) })).toBe(false);
    expect(await rows.list({ agent: "analyzer", state: "running", limit: 9 })).toHaveLength(1);
  });
}

function retention(db: () => Database): void {
  const day = (n: number) => minute(n * 1_440);

  it("forgets tasks that ended before an instant, and no task that is still to be done", async () => {
    const rows = agentTaskRows(db());
    const agent = "retention";
    for (const key of ["done", "open"]) await rows.insert({ ...task(key), agent }, day(0));
    const done = (await rows.find(agent, "done"))?.id ?? 0;
    await rows.cancel(done, { error: "no", now: day(1) });
    await rows.purge(day(1));
    expect(await rows.find(agent, "done")).toMatchObject({ id: done });
    await rows.purge(day(2));
    expect(await rows.find(agent, "done")).toBeUndefined();
    expect(await rows.find(agent, "open")).toMatchObject({ state: "pending" });
  });

  it("forgets conversations that rest since before an instant, with all that is in them", async () => {
    const rows = await newSession(db(), "rests");
    for (const id of ["changed", "in use"]) await newSession(db(), id);
    await rows.append("rests", { messages: [entry(1)], events: [entry(1)], patch: {} }, hold("a"));
    await rows.append(
      "changed",
      { messages: [entry(1)], events: [], patch: {} },
      { holder: "a", now: day(3) },
    );
    await rows.hold("in use", { holder: "a", now: day(3), until: day(4) });
    await rows.purge(day(2));
    expect(await rows.find("rests")).toBeUndefined();
    expect(await rows.messages("rests", { after: 0, limit: 9, bytes: 99 })).toEqual([]);
    expect(await Promise.all(["changed", "in use"].map(rows.find))).toMatchObject([
      { id: "changed" },
      { id: "in use" },
    ]);
  });

  it("forgets events that are older than an instant, but for the newest", async () => {
    const rows = eventRows(db());
    const ids: number[] = [];
    for (const at of [day(0), day(1), day(2)])
      ids.push(await rows.append(db(), { type: "test.x", priority: "normal", source: "t", payload: {}, at }));
    const left = async () => (await rows.read({ after: 0, limit: 9 })).map(({ id }) => id);
    await rows.purge(day(1));
    expect(await left()).toEqual(ids.slice(1));
    await rows.purge(day(9));
    expect(await left()).toEqual(ids.slice(2));
    expect(await rows.latestId()).toBe(ids[2]);
  });
}

describeEachDatabase("what agents keep", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });
  conversations(() => storage.db);
  tasks(() => storage.db);
  roleMessages(() => storage.db);
  retention(() => storage.db);
});
