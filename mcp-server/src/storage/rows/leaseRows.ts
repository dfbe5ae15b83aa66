import { and, eq, getTableColumns, lte, not, placeholder, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { leaseLosses, leases } from "../schema/index.ts";

/** A lease as it is stored; times are ISO 8601 UTC. */
export type LeaseRow = Omit<typeof leases.$inferSelect, "host_name" | "taken_at">;
export type WantedLease = Omit<typeof leases.$inferSelect, "fence">;
export type LeaseLoss = typeof leaseLosses.$inferSelect;
export type LeaseRows = ReturnType<typeof leaseRows>;

/**
 * A lease that was given back keeps its row, so that its fence never starts again; it has no owner, this handle,
 * which no UUID is, and expired long ago.
 */
const freed = {
  session_id: sql`'released:' || ${leases.device_id}`,
  principal: "",
  client: "",
  expires_at: new Date(0).toISOString(),
};
const { host_name: _host, taken_at: _taken, ...columns } = getTableColumns(leases);
const isHeld = not(eq(leases.client, ""));

/** Which lease a device has, until when. Who may have it is not decided here: only its host's daemon writes its rows. */
export function leaseRows(db: Database) {
  // Driving calls renew a lease again and again.
  const extending = db
    .update(leases)
    .set({
      implicit: sql`${placeholder("implicit")}::boolean`,
      expires_at: sql`${placeholder("expires")}::timestamptz`,
    })
    .where(eq(leases.session_id, placeholder("session")))
    .returning({ device_id: leases.device_id })
    .prepare("extend_lease");
  return {
    /** Of one host: those that were not given back, expired or not. */
    async ofHost(host: string): Promise<LeaseRow[]> {
      return db
        .select(columns)
        .from(leases)
        .where(and(eq(leases.host_name, host), isHeld));
    },

    /** The device's last lease that was not given back, expired or not. */
    async ofDevice(deviceId: string): Promise<LeaseRow | undefined> {
      const [row] = await db
        .select(columns)
        .from(leases)
        .where(and(eq(leases.device_id, deviceId), isHeld));
      return row;
    },

    /**
     * Stores a new lease, with a higher fence, in place of the one with the handle `after` (undefined: one that was given
     * back, or none). Undefined when the device has another lease by now. A `loss` is stored with it.
     */
    async take(
      wanted: WantedLease,
      { after, loss }: { after: string | undefined; loss?: LeaseLoss | undefined },
    ): Promise<LeaseRow | undefined> {
      if (!loss) return replace(db, wanted, after);
      return db.transaction(async (tx) => {
        const taken = await replace(tx, wanted, after);
        if (taken) await insertLoss(tx, loss);
        return taken;
      });
    },

    /** False when no device has the handle any more. */
    async extend(lease: Pick<LeaseRow, "session_id" | "implicit" | "expires_at">): Promise<boolean> {
      const { session_id: session, implicit, expires_at: expires } = lease;
      return (await extending.execute({ session, implicit, expires })).length > 0;
    },

    /** False if it was gone already. */
    async release(sessionId: string): Promise<boolean> {
      const rows = await db
        .update(leases)
        .set(freed)
        .where(and(eq(leases.session_id, sessionId), isHeld))
        .returning({ device_id: leases.device_id });
      return rows.length > 0;
    },

    async findLoss(sessionId: string): Promise<Pick<LeaseLoss, "taken_by" | "at"> | undefined> {
      const { taken_by, at, session_id } = leaseLosses;
      const [row] = await db.select({ taken_by, at }).from(leaseLosses).where(eq(session_id, sessionId));
      return row;
    },

    /** Forgets losses that were recorded before an instant. */
    async purgeLosses(before: string): Promise<void> {
      await db.delete(leaseLosses).where(lte(leaseLosses.at, before));
    },
  };
}

async function replace(
  db: Database,
  wanted: WantedLease,
  after: string | undefined,
): Promise<LeaseRow | undefined> {
  const [row] = await db
    .insert(leases)
    .values({ ...wanted, fence: 1 })
    .onConflictDoUpdate({
      target: leases.device_id,
      set: { ...wanted, fence: sql`${leases.fence} + 1` },
      setWhere: eq(leases.session_id, after ?? freed.session_id),
    })
    .returning(columns);
  return row;
}

async function insertLoss(db: Database, loss: LeaseLoss): Promise<void> {
  await db.insert(leaseLosses).values(loss).onConflictDoNothing();
}
