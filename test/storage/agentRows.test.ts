import { sql } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import { agentSessionRows, agentTaskRows, type Database, type Storage } from "#mcp-server/storage/index.ts";
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

describeEachDatabase("what agents keep", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });
  conversations(() => storage.db);
  tasks(() => storage.db);
});
