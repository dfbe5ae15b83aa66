import { and, desc, eq, isNull, lt, placeholder, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { type FinishedRun, finishedRuns, finishedRunValues } from "./executionRows.ts";
import { audit, idempotency } from "./schema.ts";

export type IdempotencyKey = { principal: string; key: string };
/** A call that was begun with a key. `result` is null until it ended. */
export type IdempotencyRow = { tool: string; input_hash: string; result: unknown };

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

/** What a call leaves behind. `begun` is there for one that was begun with a key. */
export type CallEnd = {
  audit: AuditRecord;
  begun?: { key: IdempotencyKey; result: unknown } | undefined;
  runs: readonly FinishedRun[];
};

export type CallRows = ReturnType<typeof callRows>;

/** The calls that may change something: who made them, and how those with an idempotency key ended. */
export function callRows(db: Database) {
  const { begin, end } = statements(db);

  async function find({ principal, key }: IdempotencyKey): Promise<IdempotencyRow | undefined> {
    const isKey = and(eq(idempotency.principal, principal), eq(idempotency.key, key));
    const [row] = await db.select().from(idempotency).where(isKey);
    return row && { tool: row.tool, input_hash: row.inputHash, result: row.result };
  }

  return {
    find,

    /** Stores the beginning and returns undefined; or returns what is stored under the key already. One of many wins. */
    async begin(
      key: IdempotencyKey,
      row: { tool: string; input_hash: string; at: string },
    ): Promise<IdempotencyRow | undefined> {
      const begun = await begin.execute({ ...key, ...row });
      return begun.length > 0 ? undefined : find(key);
    },

    /** All or nothing, in one statement: apart they were a quarter of what a single action takes. A key's first end stands. */
    async end({ audit, begun, runs }: CallEnd): Promise<void> {
      const { device_id = null, fence = null } = audit;
      await end.execute({
        ...audit,
        device_id,
        fence,
        duration_ms: Math.round(audit.duration_ms),
        key_principal: begun?.key.principal ?? null,
        key: begun?.key.key ?? null,
        result: begun ? JSON.stringify(begun.result) : null,
        ...finishedRunValues(runs),
      });
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

    /** Forgets keys that were begun before an instant. */
    async purgeKeys(before: string): Promise<void> {
      await db.delete(idempotency).where(lt(idempotency.at, before));
    },

    /** Forgets audit records that are older than an instant. */
    async purgeAudit(before: string): Promise<void> {
      await db.delete(audit).where(lt(audit.at, before));
    },
  };
}

function statements(db: Database) {
  const runs = finishedRuns(db);
  const finished = db.$with("finished").as(
    db
      .update(idempotency)
      .set({ result: sql`${placeholder("result")}::jsonb` })
      .where(
        and(
          eq(idempotency.principal, placeholder("key_principal")),
          eq(idempotency.key, placeholder("key")),
          isNull(idempotency.result),
        ),
      )
      .returning({ key: idempotency.key }),
  );
  return {
    begin: db
      .insert(idempotency)
      .values({
        principal: placeholder("principal"),
        key: placeholder("key"),
        tool: placeholder("tool"),
        inputHash: placeholder("input_hash"),
        at: placeholder("at"),
      })
      .onConflictDoNothing()
      .returning({ key: idempotency.key })
      .prepare("begin_idempotent_call"),
    end: db
      .with(runs.run, runs.step, finished)
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
      .prepare("end_call"),
  };
}
