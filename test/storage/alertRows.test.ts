import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import {
  type Alert,
  type AlertFilter,
  type AlertRows,
  alertRows,
  type Database,
} from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { minute } from "../fixtures/executionRecords.ts";

const alert = (id: string, more: Partial<Alert> = {}): Alert => ({
  id,
  kind: "freeze",
  source: "monitor",
  message: "The picture stands",
  state: "active",
  details: {},
  started_at: minute(0),
  updated_at: minute(0),
  ...more,
});
const full = alert("full", {
  kind: "blackscreen",
  device_id: "lab/tv",
  state: "resolved",
  triage: "discarded",
  triage_reason: "standby",
  triaged_by: "anna",
  start_frame: "artifact://1",
  end_frame: "artifact://2",
  details: { level: 0.1, seen: [1, null] },
  started_at: minute(3),
  resolved_at: minute(4),
  updated_at: minute(5),
});

describeEachDatabase("alerts", (open) => {
  let db: Database;
  let rows: AlertRows;
  beforeAll(async () => {
    db = (await open()).db;
    rows = alertRows(db);
  });
  beforeEach(async () => {
    await db.execute(sql`truncate alerts`);
  });
  const claimOpen = (kind: string, deviceId?: string) =>
    db.transaction((tx) => alertRows(tx).claimOpen(kind, deviceId));

  it("are stored whole, and an update leaves nothing of what was", async () => {
    await rows.insert(full);
    const claimed = await db.transaction((tx) => alertRows(tx).claim("full"));
    expect(claimed).toEqual(full);
    const bare = alert("full", { updated_at: minute(6) });
    await rows.update(bare);
    expect((await rows.list({}, 10)).found).toEqual([bare]);
    expect(await db.transaction((tx) => alertRows(tx).claim("nobody"))).toBeUndefined();
  });

  it("are open by kind and device until they are resolved, one without a device too", async () => {
    await rows.insert(full);
    await rows.insert(alert("tv", { device_id: "lab/tv", state: "pending" }));
    await rows.insert(alert("nowhere"));
    expect((await claimOpen("freeze", "lab/tv"))?.id).toBe("tv");
    expect((await claimOpen("freeze"))?.id).toBe("nowhere");
    expect(await claimOpen("freeze", "lab/box")).toBeUndefined();
    expect(await claimOpen("blackscreen", "lab/tv")).toBeUndefined();
  });

  it("are opened by one at a time: who claims what another is about to open waits for it", async () => {
    const other = (await open({ transactionWaitMs: 200 })).db;
    await other.transaction(async (first) => {
      expect(await alertRows(first).claimOpen("freeze", "lab/tv")).toBeUndefined();
      const second = other.transaction(async (tx) => {
        await tx.execute(sql`set local lock_timeout = '200ms'`);
        await alertRows(tx).claimOpen("freeze", "lab/tv");
      });
      // PostgreSQL's lock_timeout, or the embedded database's own for a second transaction.
      await expect(second).rejects.toMatchObject({ cause: { code: "55P03" } });
      await alertRows(first).insert(alert("tv", { device_id: "lab/tv" }));
    });
    const found = await other.transaction((tx) => alertRows(tx).claimOpen("freeze", "lab/tv"));
    expect(found?.id).toBe("tv");
  });

  it("are listed newest first, as many as asked for, by every filter", async () => {
    await rows.insert(full);
    await rows.insert(alert("old"));
    await rows.insert(alert("new", { started_at: minute(9) }));
    const { found, total } = await rows.list({}, 2);
    expect(found.map(({ id }) => id)).toEqual(["new", "full"]);
    expect(total).toBe(3);
    expect(await rows.ids(2)).toEqual(["new", "full"]);
    const filters: AlertFilter[] = [
      { state: "resolved" },
      { kind: "blackscreen" },
      { device: "lab/tv" },
      { device: "tv" },
      { triage: "discarded" },
      { since: minute(1), triage: "discarded" },
    ];
    for (const filter of filters) {
      expect((await rows.list(filter, 10)).found, JSON.stringify(filter)).toEqual([full]);
    }
    expect((await rows.list({ triage: "none" }, 10)).found.map(({ id }) => id)).toEqual(["new", "old"]);
    expect((await rows.list({ since: minute(4) }, 10)).found.map(({ id }) => id)).toEqual(["new"]);
    expect(await rows.list({ kind: "anr" }, 10)).toEqual({ found: [], total: 0 });
  });
});
