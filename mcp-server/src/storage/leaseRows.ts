import { and, eq, gt, lte, not, or, placeholder, type SQL, sql } from "drizzle-orm";
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

export function leaseRows(db: Database) {
  return {
    /**
     * Wins if the device is free, expired, held by this principal and client, or `force`; otherwise undefined. One atomic
     * statement; the fence grows with each win. A living lease of another handle that `force` ends is recorded as a loss.
     */
    async take(wanted: WantedLease, options: { force: boolean; now: string }): Promise<LeaseRow | undefined> {
      if (!options.force) return upsert(db, wanted, options);
      return db.transaction(async (tx) => {
        const [before] = await tx
          .select()
          .from(leases)
          .where(eq(leases.deviceId, wanted.device_id))
          .for("update");
        const taken = await upsert(tx, wanted, options);
        const ends = before !== undefined && before.expiresAt > options.now;
        if (ends && before.sessionId !== wanted.session_id)
          await insertLoss(tx, {
            session_id: before.sessionId,
            device_id: before.deviceId,
            taken_by: wanted.client,
            at: options.now,
          });
        return taken;
      });
    },

    ...renewals(db),

    async find(sessionId: string): Promise<LeaseRow | undefined> {
      const [row] = await db
        .select()
        .from(leases)
        .where(and(eq(leases.sessionId, sessionId), isHeld));
      return row && toLease(row);
    },

    /** The device's last lease that was not given back, expired or not. */
    async ofDevice(deviceId: string): Promise<LeaseRow | undefined> {
      const [row] = await db
        .select()
        .from(leases)
        .where(and(eq(leases.deviceId, deviceId), isHeld));
      return row && toLease(row);
    },

    /** All that were not given back, expired or not, by device. */
    async all(): Promise<LeaseRow[]> {
      return (await db.select().from(leases).where(isHeld).orderBy(leases.deviceId)).map(toLease);
    },

    ...endings(db),
  };
}

/** When a lease would end now, by whether it is an implicit one. */
export type LeaseEnd = { implicit: string; explicit: string };

/** Each driving call renews a lease: prepared once, and one statement each. */
function renewals(db: Database) {
  const renewing = (name: string, which: SQL) =>
    db
      .update(leases)
      .set({
        expiresAt: sql`case when ${leases.implicit} then ${placeholder("implicit")}::timestamptz else ${placeholder("explicit")}::timestamptz end`,
      })
      .where(
        and(which, eq(leases.principal, placeholder("principal")), gt(leases.expiresAt, placeholder("now"))),
      )
      .returning()
      .prepare(name);
  const byHandle = renewing("renew_lease", sql`${leases.sessionId} = ${placeholder("session")}`);
  const ofOwner = renewing(
    "renew_own_lease",
    sql`${leases.deviceId} = ${placeholder("device")} and ${leases.client} = ${placeholder("client")}`,
  );
  return {
    /** Undefined when the principal's lease with this handle has expired or gone. */
    async renew(
      lease: { session_id: string; principal: string },
      until: LeaseEnd,
      now: string,
    ): Promise<LeaseRow | undefined> {
      const { session_id: session, principal } = lease;
      const [row] = await byHandle.execute({ session, principal, ...until, now });
      return row && toLease(row);
    },

    /** Undefined when the client has no living lease of the device. */
    async renewOwn(
      owner: { device_id: string; principal: string; client: string },
      until: LeaseEnd,
      now: string,
    ): Promise<LeaseRow | undefined> {
      const { device_id: device, principal, client } = owner;
      const [row] = await ofOwner.execute({ device, principal, client, ...until, now });
      return row && toLease(row);
    },
  };
}

function endings(db: Database) {
  return {
    /** False if it was gone already. */
    async release(sessionId: string): Promise<boolean> {
      const rows = await db
        .update(leases)
        .set(freed)
        .where(and(eq(leases.sessionId, sessionId), isHeld))
        .returning({ deviceId: leases.deviceId });
      return rows.length > 0;
    },

    /** Gives back all that a client held; returns its handles. */
    async releaseClient(client: string): Promise<string[]> {
      const rows = await db
        .select({ sessionId: leases.sessionId })
        .from(leases)
        .where(and(eq(leases.client, client), isHeld));
      const released: string[] = [];
      for (const { sessionId } of rows) if (await this.release(sessionId)) released.push(sessionId);
      return released;
    },

    async recordLoss(loss: LeaseLoss): Promise<void> {
      await insertLoss(db, loss);
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

async function upsert(
  db: Database,
  wanted: WantedLease,
  { force, now }: { force: boolean; now: string },
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
  const isOwn = and(eq(leases.principal, wanted.principal), eq(leases.client, wanted.client));
  const mayTake = force ? undefined : or(lte(leases.expiresAt, now), isOwn);
  const [row] = await db
    .insert(leases)
    .values({ deviceId: wanted.device_id, fence: 1, ...values })
    .onConflictDoUpdate({
      target: leases.deviceId,
      set: { ...values, fence: sql`${leases.fence} + 1` },
      ...(mayTake && { setWhere: mayTake }),
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
