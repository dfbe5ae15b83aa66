import { and, desc, eq, getTableColumns, gte, isNull, lt, placeholder, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { hasValues, type WithoutNulls, withoutNulls } from "../schema/columns.ts";
import { audit, idempotency } from "../schema/index.ts";
import { type FinishedRun, finishedRuns, finishedRunValues } from "./executionRows.ts";

export type IdempotencyKey = { principal: string; key: string };
/** A call that was begun with a key. `result` is null until it ended. */
export type IdempotencyRow = { tool: string; input_hash: string; result: unknown };

/** One call: `outcome` is `ok` or an error code, `at` ISO 8601 UTC. */
export type AuditRecord = WithoutNulls<Omit<typeof audit.$inferSelect, "id">>;

/** `client` is how a client's name begins, `since` ISO 8601 UTC. */
export type AuditFilter = {
  limit: number;
  tool?: string | undefined;
  client?: string | undefined;
  since?: string | undefined;
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
    const { tool, input_hash, result } = idempotency;
    const [row] = await db.select({ tool, input_hash, result }).from(idempotency).where(isKey);
    return row;
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

    /** The last records that match, newest first. */
    async recent({ limit, tool, client, since }: AuditFilter): Promise<AuditRecord[]> {
      const { id: _, ...columns } = getTableColumns(audit);
      const rows = await db
        .select(columns)
        .from(audit)
        .where(
          and(
            hasValues(audit, { tool }),
            client === undefined ? undefined : sql`starts_with(${audit.client}, ${client})`,
            since === undefined ? undefined : gte(audit.at, since),
          ),
        )
        .orderBy(desc(audit.id))
        .limit(limit);
      return rows.map(withoutNulls);
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
        input_hash: placeholder("input_hash"),
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
        device_id: placeholder("device_id"),
        fence: placeholder("fence"),
        outcome: placeholder("outcome"),
        duration_ms: placeholder("duration_ms"),
        trace_id: placeholder("trace_id"),
        at: placeholder("at"),
      })
      .prepare("end_call"),
  };
}
