import { eq, sql } from "drizzle-orm";
import type { PoolClient } from "pg";
import { beforeAll, expect, it } from "vitest";
import { Notifications } from "#mcp-server/storage/engine/listen.ts";
import type { Storage } from "#mcp-server/storage/index.ts";
import { audit, eventCursors, events } from "#mcp-server/storage/schema/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const at = "2030-01-02T03:04:05.678Z";

function record(tool: string) {
  return { principal: "p", client: "c", tool, outcome: "ok", duration_ms: 1, trace_id: "t", at };
}

async function countOf(storage: Storage, tool: string): Promise<number> {
  return storage.db.$count(audit, eq(audit.tool, tool));
}

describeEachDatabase("a database", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });

  it("gives numbers for counts, sums and bigints", async () => {
    const { rows } = await storage.db.execute(
      sql`select count(*) as n, sum(2)::bigint as s, 9007199254740991::bigint as big from audit`,
    );
    expect(rows).toEqual([{ n: 0, s: null, big: Number.MAX_SAFE_INTEGER }]);
  });

  it("keeps instants as ISO 8601 UTC with milliseconds, whatever zone they were given in", async () => {
    await storage.db.insert(audit).values({ ...record("instant"), at: "2030-01-02T05:04:05.678+02:00" });
    const [row] = await storage.db.select().from(audit).where(eq(audit.tool, "instant"));
    expect(row?.at).toBe(at);
  });

  it("keeps JSON as it was: text of every script, quotes, nested lists, nulls", async () => {
    const odd = `ünïcode 文字 🙂 "quoted" back\\slash \n line`;
    const payload = { [odd]: odd, list: [1, null, { b: true }], small: 1e-7, empty: {} };
    await storage.db.insert(events).values({ type: "json", priority: "normal", source: "test", payload, at });
    const [found] = await storage.db.select().from(events).where(eq(events.type, "json"));
    expect(found?.payload).toEqual(payload);
  });

  it("takes and gives three megabytes in one value", async () => {
    const text = "x".repeat(3_000_000);
    const { rows } = await storage.pool.query("select length($1::text) as n, $1::text as text", [text]);
    expect(rows[0].n).toBe(text.length);
    expect(rows[0].text === text).toBe(true);
  });

  it("reports a broken rule with its SQLSTATE", async () => {
    const insert = () => storage.db.insert(eventCursors).values({ consumer: "twice", event_id: 1 });
    await insert();
    const again = insert();
    await expect(again).rejects.toMatchObject({ cause: { code: "23505" } });
  });

  it("keeps all of a transaction or nothing", async () => {
    const work = storage.db.transaction(async (tx) => {
      await tx.insert(audit).values(record("half"));
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await countOf(storage, "half")).toBe(0);
  });

  it("runs forty transactions at once, each whole or not at all", async () => {
    const one = (i: number) =>
      storage.db.transaction(async (tx) => {
        await tx.insert(audit).values(record("both"));
        await tx.insert(audit).values(record("both"));
        if (i % 4 === 0) throw new Error("no");
      });
    const ends = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => one(i)));
    expect(ends.filter((end) => end.status === "rejected")).toHaveLength(10);
    expect(await countOf(storage, "both")).toBe(60);
  });

  it("keeps another client's statement out of a transaction that rolls back", async () => {
    let started = () => {};
    const open = new Promise<void>((resolve) => {
      started = resolve;
    });
    const inside = storage.db.transaction(async (tx) => {
      await tx.insert(audit).values(record("inside"));
      started();
      await tx.execute(sql`select pg_sleep(0.05)`);
      throw new Error("no");
    });
    await open;
    const outside = storage.db.insert(audit).values(record("outside"));
    await expect(inside).rejects.toThrow("no");
    await outside;
    expect(await countOf(storage, "inside")).toBe(0);
    expect(await countOf(storage, "outside")).toBe(1);
  });

  it("rolls back the transaction of a client that breaks off", async () => {
    const client = await storage.pool.connect();
    await client.query("begin");
    await client.query("insert into event_cursors values ('broken off', 1)");
    client.release(true);
    const { rows } = await storage.pool.query("select * from event_cursors where consumer = 'broken off'");
    expect(rows).toEqual([]);
  });

  it("reports a notification to who listens, after the commit and not after a rollback", async () => {
    const heard: string[] = [];
    let told = () => {};
    const last = new Promise<void>((resolve) => {
      told = resolve;
    });
    const stop = await storage.listen("news", (payload) => {
      heard.push(payload);
      if (payload === "last") told();
    });
    const rolledBack = storage.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_notify('news', 'never')`);
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    await storage.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_notify('news', 'first')`);
      await tx.execute(sql`select pg_notify('other_news', 'not asked for')`);
    });
    await storage.pool.query("select pg_notify('news', 'last')");
    await last;
    stop();
    expect(heard).toEqual(["first", "last"]);
  });

  it("gives the connection of its listeners back once, also when the server ends it as it is given back", async () => {
    let client: PoolClient | undefined;
    storage.pool.once("acquire", (acquired) => {
      client = acquired;
    });
    const notifications = new Notifications(storage.pool);
    await notifications.listen("closing", () => {});
    const taken = storage.pool.totalCount;
    notifications.close();
    await expect.poll(() => storage.pool.totalCount).toBe(taken - 1);
    expect(() =>
      client?.emit("error", new Error("terminating connection due to administrator command")),
    ).not.toThrow();
    expect(client).toBeDefined();
  });
});
