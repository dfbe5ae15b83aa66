import { and, asc, count, eq, gte, isNotNull, isNull, sql } from "drizzle-orm";
import type { Classification, ExecutionStatus } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { executionAnalyses, executions } from "../schema/index.ts";

/** What a finished run's result was judged to be; `confidence` 0..1. */
export type Analysis = typeof executionAnalyses.$inferSelect;

export type AwaitingExecution = {
  execution_id: string;
  name: string;
  status: ExecutionStatus;
  finished_at: string;
};

export type ClassCounts = { awaiting: number; classified: Partial<Record<Classification, number>> };

export type AnalysisRows = ReturnType<typeof analysisRows>;

const table = executionAnalyses;

/** Analyses of finished runs, and the runs of tests that await one. */
export function analysisRows(db: Database) {
  return {
    ...queueRows(db),

    /** Held until the caller's transaction ends: analyses of one run are stored one after the other. */
    async lock(executionId: string): Promise<void> {
      await db
        .select({ id: executions.id })
        .from(executions)
        .where(eq(executions.id, executionId))
        .for("update");
    },

    async find(executionId: string): Promise<Analysis | undefined> {
      const [row] = await db.select().from(table).where(eq(table.execution_id, executionId));
      return row;
    },

    /** In place of the one that is there. False, and nothing changed, when that says the same. */
    async put({ execution_id, ...changed }: Analysis): Promise<boolean> {
      const rows = await db
        .insert(table)
        .values({ execution_id, ...changed })
        .onConflictDoUpdate({
          target: table.execution_id,
          set: changed,
          setWhere: sql`(${table.classification}, ${table.confidence}, ${table.summary}, ${table.evidence}, ${table.analyzed_by})
            is distinct from (excluded.classification, excluded.confidence, excluded.summary, excluded.evidence, excluded.analyzed_by)`,
        })
        .returning({ id: table.execution_id });
      return rows.length > 0;
    },
  };
}

/** `since` bounds the end of a run. */
function queueRows(db: Database) {
  return {
    /** Of the finished runs of tests; a class without a run is left out. */
    async countByClass(since?: string): Promise<ClassCounts> {
      const rows = await db
        .select({ classification: table.classification, n: count() })
        .from(executions)
        .leftJoin(table, eq(table.execution_id, executions.id))
        .where(isFinishedTest(since))
        .groupBy(table.classification)
        .orderBy(table.classification);
      const classified: ClassCounts["classified"] = {};
      let awaiting = 0;
      for (const { classification, n } of rows) {
        if (classification === null) awaiting = n;
        else classified[classification] = n;
      }
      return { awaiting, classified };
    },

    async oldestAwaiting(since?: string): Promise<AwaitingExecution | undefined> {
      const [row] = await db
        .select(awaitingColumns)
        .from(executions)
        .leftJoin(table, eq(table.execution_id, executions.id))
        .where(and(isFinishedTest(since), isNull(table.execution_id)))
        .orderBy(asc(executions.finished_at), asc(executions.id))
        .limit(1);
      return row && { ...row, finished_at: row.finished_at ?? "" };
    },

    /** Ids of those that await analysis, the oldest first; failures, errors and timeouts before the rest. */
    async nextAwaiting(limit: number, since?: string): Promise<string[]> {
      const rows = await db
        .select({ id: executions.id })
        .from(executions)
        .leftJoin(table, eq(table.execution_id, executions.id))
        .where(and(isFinishedTest(since), isNull(table.execution_id)))
        .orderBy(
          sql`${executions.status} not in ('failed', 'error', 'timeout')`,
          asc(executions.finished_at),
          asc(executions.id),
        )
        .limit(limit);
      return rows.map(({ id }) => id);
    },
  };
}

const awaitingColumns = {
  execution_id: executions.id,
  name: executions.name,
  status: executions.status,
  finished_at: executions.finished_at,
};

const isFinishedTest = (since: string | undefined) =>
  and(
    sql`${executions.kind} in ('testcase', 'script')`,
    isNotNull(executions.finished_at),
    since === undefined ? undefined : gte(executions.finished_at, since),
  );
