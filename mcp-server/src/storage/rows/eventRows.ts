import { and, asc, desc, eq, getTableColumns, gt, gte, lt, max, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { type WithoutNulls, withoutNulls } from "../schema/columns.ts";
import { eventCursors, events } from "../schema/index.ts";

export type EventRow = WithoutNulls<Omit<typeof events.$inferSelect, "delivery">>;
export type NewEventRow = Omit<EventRow, "id"> & { delivery?: string };
type EventsOfType = { type: string; device: string; from: string; limit: number };
type EventRange = { after: number; limit: number; device?: string | undefined };
export type EventRows = ReturnType<typeof eventRows>;

/** NOTIFY's channel; the payload is the event's id. */
export const eventChannel = "labwright_events";
/** Any fixed number: names the lock among this database's advisory locks ("even" in ASCII). */
const orderLock = 0x6576656e;

export function eventRows(db: Database) {
  const { delivery: _, ...columns } = getTableColumns(events);
  const { id } = columns;
  return {
    /**
     * Appends within the caller's transaction, as its last statement: from here to its end, transactions that append wait
     * for each other. Otherwise a lower id could become visible after a higher one was read, and be missed for ever. An event
     * with the `delivery` of a stored one is not stored again: the id is that of the first.
     */
    async append(tx: Database, event: NewEventRow): Promise<number> {
      await tx.execute(sql`select pg_advisory_xact_lock(${orderLock})`);
      const { delivery } = event;
      const isSame = eq(events.delivery, delivery ?? "");
      const [before] = delivery === undefined ? [] : await tx.select({ id }).from(events).where(isSame);
      if (before) return before.id;
      const [row] = await tx.insert(events).values(event).returning({ id });
      if (row === undefined) throw new Error("an insert returned no row");
      await tx.execute(sql`select pg_notify(${eventChannel}, ${String(row.id)})`);
      return row.id;
    },

    /** Events with a higher id, in order; with `device` the newest `limit` of that device. */
    async read({ after, limit, device }: EventRange): Promise<EventRow[]> {
      const isOfDevice = device === undefined ? undefined : eq(events.device_id, device);
      const rows = await db
        .select(columns)
        .from(events)
        .where(and(gt(events.id, after), isOfDevice))
        .orderBy(device === undefined ? asc(events.id) : desc(events.id))
        .limit(limit);
      return rows.map(withoutNulls).toSorted((a, b) => a.id - b.id);
    },

    /** The first `limit` events of a type on a device from an instant on, in order. */
    async ofType({ type, device, from, limit }: EventsOfType): Promise<EventRow[]> {
      const isOfType = and(eq(events.device_id, device), eq(events.type, type), gte(events.at, from));
      const rows = await db.select(columns).from(events).where(isOfType).orderBy(asc(events.at)).limit(limit);
      return rows.map(withoutNulls);
    },

    /** 0 when there is none. */
    async latestId(): Promise<number> {
      const [row] = await db.select({ id: max(events.id) }).from(events);
      return row?.id ?? 0;
    },

    /** Forgets what is older than an instant, but for the newest: the last id never goes back. */
    async purge(before: string): Promise<void> {
      const latest = db.select({ id: max(events.id) }).from(events);
      await db.delete(events).where(and(lt(events.at, before), lt(events.id, latest)));
    },

    /** The last event that a consumer has done; 0 for a new one. */
    async cursor(consumer: string): Promise<number> {
      const [row] = await db.select().from(eventCursors).where(eq(eventCursors.consumer, consumer));
      return row?.event_id ?? 0;
    },

    /** Never goes back. Given a transaction, the cursor moves with what the consumer did, exactly once. */
    async advance(consumer: string, eventId: number, tx: Database = db): Promise<void> {
      await tx
        .insert(eventCursors)
        .values({ consumer, event_id: eventId })
        .onConflictDoUpdate({
          target: eventCursors.consumer,
          set: { event_id: sql`greatest(${eventCursors.event_id}, excluded.event_id)` },
        });
    },
  };
}
