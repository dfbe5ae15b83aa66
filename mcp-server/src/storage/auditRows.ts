import { desc, eq, lt, placeholder } from "drizzle-orm";
import type { Database } from "./database.ts";
import { audit } from "./schema.ts";

/** One call: `outcome` is `ok` or an error code, `at` ISO 8601 UTC. */
export type AuditRecord = {
  principal: string;
  client: string;
  tool: string;
  device_id?: string | undefined;
  fence?: number | undefined;
  outcome: string;
  duration_ms: number;
  trace_id: string;
  at: string;
};
export type AuditRows = ReturnType<typeof auditRows>;

export function auditRows(db: Database) {
  const insert = db
    .insert(audit)
    .values({
      principal: placeholder("principal"),
      client: placeholder("client"),
      tool: placeholder("tool"),
      deviceId: placeholder("device_id"),
      fence: placeholder("fence"),
      outcome: placeholder("outcome"),
      durationMs: placeholder("duration_ms"),
      traceId: placeholder("trace_id"),
      at: placeholder("at"),
    })
    .prepare("append_audit");

  return {
    async append(record: AuditRecord): Promise<void> {
      const { device_id = null, fence = null } = record;
      await insert.execute({ ...record, device_id, fence, duration_ms: Math.round(record.duration_ms) });
    },

    /** The last records, newest first, of one device or of all. */
    async recent(limit: number, deviceId?: string): Promise<AuditRecord[]> {
      const rows = await db
        .select()
        .from(audit)
        .where(deviceId === undefined ? undefined : eq(audit.deviceId, deviceId))
        .orderBy(desc(audit.id))
        .limit(limit);
      return rows.map((row) => ({
        principal: row.principal,
        client: row.client,
        tool: row.tool,
        device_id: row.deviceId ?? undefined,
        fence: row.fence ?? undefined,
        outcome: row.outcome,
        duration_ms: row.durationMs,
        trace_id: row.traceId,
        at: row.at,
      }));
    },

    /** Forgets what is older than an instant. */
    async purge(before: string): Promise<void> {
      await db.delete(audit).where(lt(audit.at, before));
    },
  };
}
