import { and, eq, lte, not, placeholder, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { leaseLosses, leases } from "./schema.ts";

/** A lease as it is stored; times are ISO 8601 UTC. */
export type LeaseRow = {
  device_id: string;
  session_id: string;
  principal: string;
  client: string;
  fence: number;
  implicit: boolean;
  expires_at: string;
};
export type WantedLease = Omit<LeaseRow, "fence"> & { host_name: string; taken_at: string };
export type LeaseLoss = { session_id: string; device_id: string; taken_by: string; at: string };
export type LeaseRows = ReturnType<typeof leaseRows>;

/**
 * A lease that was given back keeps its row, so that its fence never starts again; it is owned by nobody, has this handle,
 * which no UUID is, and expired long ago.
 */
const freed = {
  sessionId: sql`'released:' || ${leases.deviceId}`,
  principal: "",
  client: "",
  expiresAt: new Date(0).toISOString(),
};
const isHeld = not(eq(leases.client, ""));

/** Which lease a device has, until when. Who may have it is not decided here: only its host's daemon writes its rows. */
export function leaseRows(db: Database) {
  // Driving calls renew a lease again and again.
  const extending = db
    .update(leases)
    .set({
      implicit: sql`${placeholder("implicit")}::boolean`,
      expiresAt: sql`${placeholder("expires")}::timestamptz`,
    })
    .where(eq(leases.sessionId, placeholder("session")))
    .returning({ deviceId: leases.deviceId })
    .prepare("extend_lease");
  return {
    /** Of one host: those that were not given back, expired or not. */
    async ofHost(host: string): Promise<LeaseRow[]> {
      const rows = await db
        .select()
        .from(leases)
        .where(and(eq(leases.hostName, host), isHeld));
      return rows.map(toLease);
    },

    /** The device's last lease that was not given back, expired or not. */
    async ofDevice(deviceId: string): Promise<LeaseRow | undefined> {
      const [row] = await db
        .select()
        .from(leases)
        .where(and(eq(leases.deviceId, deviceId), isHeld));
      return row && toLease(row);
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
        .where(and(eq(leases.sessionId, sessionId), isHeld))
        .returning({ deviceId: leases.deviceId });
      return rows.length > 0;
    },

    async findLoss(sessionId: string): Promise<{ taken_by: string; at: string } | undefined> {
      const [row] = await db.select().from(leaseLosses).where(eq(leaseLosses.sessionId, sessionId));
      return row && { taken_by: row.takenBy, at: row.at };
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
  const values = {
    hostName: wanted.host_name,
    sessionId: wanted.session_id,
    principal: wanted.principal,
    client: wanted.client,
    implicit: wanted.implicit,
    takenAt: wanted.taken_at,
    expiresAt: wanted.expires_at,
  };
  const [row] = await db
    .insert(leases)
    .values({ deviceId: wanted.device_id, fence: 1, ...values })
    .onConflictDoUpdate({
      target: leases.deviceId,
      set: { ...values, fence: sql`${leases.fence} + 1` },
      setWhere: eq(leases.sessionId, after ?? freed.sessionId),
    })
    .returning();
  return row && toLease(row);
}

async function insertLoss(db: Database, loss: LeaseLoss): Promise<void> {
  await db
    .insert(leaseLosses)
    .values({ sessionId: loss.session_id, deviceId: loss.device_id, takenBy: loss.taken_by, at: loss.at })
    .onConflictDoNothing();
}

function toLease(row: typeof leases.$inferSelect): LeaseRow {
  return {
    device_id: row.deviceId,
    session_id: row.sessionId,
    principal: row.principal,
    client: row.client,
    fence: row.fence,
    implicit: row.implicit,
    expires_at: row.expiresAt,
  };
}
