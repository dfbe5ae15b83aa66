import { and, desc, eq, gte, isNull, ne, type SQL, sql } from "drizzle-orm";
import type { AlertState, AlertTriage } from "../../../domain/index.ts";
import type { Database } from "../../engine/database.ts";
import { everyColumn, hasValues, type WithoutNulls, withoutNulls } from "../../schema/columns.ts";
import { alerts } from "../../schema/index.ts";
import { isDevice } from "../executionSearch.ts";

/** Frames are artifact URIs. `triaged_by` is there with `triage`, `resolved_at` with the state `resolved`. */
export type Alert = WithoutNulls<typeof alerts.$inferSelect>;

/** What is given must all hold. `device` is an id or a bare name, `since` bounds the start. */
export type AlertFilter = {
  id?: string | undefined;
  state?: AlertState | undefined;
  kind?: string | undefined;
  device?: string | undefined;
  triage?: AlertTriage | "none" | undefined;
  since?: string | undefined;
};

export type AlertRows = ReturnType<typeof alertRows>;

/** Any fixed number: the first of the two keys of this table's advisory locks ("aler" in ASCII). */
const openLock = 0x616c6572;

export function alertRows(db: Database) {
  return {
    async insert(alert: Alert): Promise<void> {
      await db.insert(alerts).values(alert);
    },

    async update(alert: Alert): Promise<void> {
      await db.update(alerts).set(everyColumn(alerts, alert)).where(eq(alerts.id, alert.id));
    },

    /**
     * The alert of a kind on a device that is not resolved. To its end, the caller's transaction is the only one that may
     * open one, also when there is none: two that raise it at once find the same.
     */
    async claimOpen(kind: string, deviceId: string | undefined): Promise<Alert | undefined> {
      const key = `${kind} ${deviceId ?? ""}`;
      await db.execute(sql`select pg_advisory_xact_lock(${openLock}, hashtext(${key}))`);
      const [row] = await db
        .select()
        .from(alerts)
        .where(
          and(
            eq(alerts.kind, kind),
            ne(alerts.state, "resolved"),
            deviceId === undefined ? isNull(alerts.device_id) : eq(alerts.device_id, deviceId),
          ),
        )
        .for("update");
      return row && withoutNulls(row);
    },

    /** Unresolved alerts of a source. */
    async open(source: string): Promise<Alert[]> {
      const rows = await db
        .select()
        .from(alerts)
        .where(and(eq(alerts.source, source), ne(alerts.state, "resolved")));
      return rows.map(withoutNulls);
    },

    /** Held until the caller's transaction ends. */
    async claim(id: string): Promise<Alert | undefined> {
      const [row] = await db.select().from(alerts).where(eq(alerts.id, id)).for("update");
      return row && withoutNulls(row);
    },

    /** Newest first; `total` is how many there are. */
    async list(filter: AlertFilter, limit: number): Promise<{ found: Alert[]; total: number }> {
      const rows = await db
        .select({ alert: alerts, total: sql`count(*) over ()`.mapWith(Number) })
        .from(alerts)
        .where(matching(filter))
        .orderBy(desc(alerts.started_at), desc(alerts.id))
        .limit(limit);
      return { found: rows.map(({ alert }) => withoutNulls(alert)), total: rows[0]?.total ?? 0 };
    },

    /** Newest first. */
    async ids(limit: number): Promise<string[]> {
      const rows = await db
        .select({ id: alerts.id })
        .from(alerts)
        .orderBy(desc(alerts.started_at), desc(alerts.id))
        .limit(limit);
      return rows.map(({ id }) => id);
    },
  };
}

function matching({ device, triage, since, ...values }: AlertFilter): SQL | undefined {
  return and(
    hasValues(alerts, values),
    device === undefined ? undefined : isDevice(alerts.device_id, device),
    triage === undefined ? undefined : isTriaged(triage),
    since === undefined ? undefined : gte(alerts.started_at, since),
  );
}

const isTriaged = (triage: AlertTriage | "none"): SQL =>
  triage === "none" ? isNull(alerts.triage) : eq(alerts.triage, triage);
