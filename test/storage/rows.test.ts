import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import { databaseOnly, testcaseSchema } from "#mcp-server/domain/index.ts";
import { artifactRows, databaseBytes, eventRows, type Storage } from "#mcp-server/storage/index.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const day = (n: number) => new Date(Date.UTC(2030, 0, n)).toISOString();

const testcase = (description: string) =>
  testcaseSchema.parse({
    name: "inserted",
    description,
    userinterface_name: "shop",
    blocks: [{ id: "start", type: "start" }],
    edges: [],
  });

describeEachDatabase("rows", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });

  it("indexes a file once, makes it young again, and counts each host's own", async () => {
    const rows = artifactRows(storage.db);
    const row = (sha256: string, bytes: number, at: string, host_name = "host") => {
      return { sha256, host_name, mime_type: "image/png", bytes, created_at: at };
    };
    await rows.put(row("a", 10, day(1)));
    await rows.put(row("b", 20, day(2)));
    await rows.put(row("c", 3_000_000_000, day(1), "elsewhere"));
    await rows.put(row("a", 10, day(1), "elsewhere"));
    const again = await rows.put({ ...row("a", 10, day(3)), mime_type: "text/plain" });
    expect(again).toEqual(row("a", 10, day(3)));
    expect((await rows.oldest("host", 10)).map((found) => found.sha256)).toEqual(["b", "a"]);
    expect([await rows.totalBytes("host"), await rows.totalBytes("elsewhere")]).toEqual([30, 3_000_000_010]);
    await rows.remove("host", ["a", "b", "c"]);
    expect(await rows.totalBytes("host")).toBe(0);
    expect((await rows.find("c", "host"))?.host_name).toBe("elsewhere");
    expect(await rows.find("a", "elsewhere")).toEqual(row("a", 10, day(1), "elsewhere"));
  });

  const event = { type: "t", priority: "normal", source: "test", payload: { a: 1 }, at: day(1) } as const;

  it("gives events in order after a cursor, which never goes back", async () => {
    const rows = eventRows(storage.db);
    const append = (device_id: string) =>
      storage.db.transaction((tx) => rows.append(tx, { ...event, device_id }));
    const first = await append("h/1");
    await append("h/2");
    const last = await append("h/3");
    expect(await rows.latestId()).toBe(last);
    const page = await rows.read({ after: first, limit: 1 });
    expect(page).toEqual([{ ...event, device_id: "h/2", id: expect.any(Number) }]);
    expect(await rows.cursor("agent")).toBe(0);
    await rows.advance("agent", last);
    await rows.advance("agent", first);
    expect(await rows.cursor("agent")).toBe(last);
  });

  it("moves a cursor with what its consumer did, or not at all", async () => {
    const rows = eventRows(storage.db);
    const work = storage.db.transaction(async (tx) => {
      await rows.advance("worker", 5, tx);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await rows.cursor("worker")).toBe(0);
  });

  it("lets no transaction append while another has not ended: a lower id would be missed by who read a higher", async () => {
    const { db } = await open({ transactionWaitMs: 200 });
    const rows = eventRows(db);
    await db.transaction(async (first) => {
      await rows.append(first, event);
      const second = db.transaction(async (tx) => {
        await tx.execute(sql`set local lock_timeout = '200ms'`);
        await rows.append(tx, event);
      });
      // PostgreSQL's lock_timeout, or the embedded database's own for a second transaction.
      await expect(second).rejects.toMatchObject({ cause: { code: "55P03" } });
    });
    expect(await rows.read({ after: 0, limit: 10 })).toHaveLength(1);
  });

  it("gives each of thirty events that are appended at once its own place", async () => {
    const { db } = await open();
    const rows = eventRows(db);
    const ids = await Promise.all(
      Array.from({ length: 30 }, () => db.transaction((tx) => rows.append(tx, event))),
    );
    expect((await rows.read({ after: 0, limit: 100 })).map(({ id }) => id)).toEqual(
      ids.sort((a, b) => a - b),
    );
  });

  it("keeps a new test case of the first who inserts its name, however many do at once, and of no later one", async () => {
    const rows = testcaseRows(storage.db);
    const asked = Array.from({ length: 8 }, (_, one) => ({
      id: randomUUID(),
      testcase: testcase(`by ${one}`),
    }));
    const kept = await Promise.all(
      asked.map(({ id, testcase: own }) => rows.insert({ id, testcase: own, source: databaseOnly }, day(1))),
    );
    const first = asked.find(({ id }) => kept.includes(id));
    expect(kept.filter((id) => id !== undefined)).toHaveLength(1);
    expect(await rows.named("inserted")).toEqual([
      {
        ...first?.testcase,
        id: first?.id,
        created_at: day(1),
        updated_at: day(1),
        source: databaseOnly,
      },
    ]);
    expect(await rows.list({ name: "shop" })).toHaveLength(1);
  });

  it("measures what the database takes on its disk", async () => {
    expect(await databaseBytes(storage.db)).toBeGreaterThan(1_000_000);
  });
});
