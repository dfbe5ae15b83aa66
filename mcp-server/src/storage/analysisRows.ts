import { and, asc, count, eq, gte, isNotNull, isNull, sql } from "drizzle-orm";
import type { Classification, ExecutionStatus } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { executionAnalyses, executions } from "./schema.ts";

/** What a finished run's result was judged to be; `confidence` 0..1. */
export type Analysis = {
  execution_id: string;
  classification: Classification;
  confidence: number;
  summary: string;
  evidence: string[];
  analyzed_by: string;
  at: string;
};

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
      const [row] = await db.select().from(table).where(eq(table.executionId, executionId));
      return row && toAnalysis(row);
    },

    /** In place of the one that is there. False, and nothing changed, when that says the same. */
    async put({ execution_id: executionId, at, analyzed_by, ...judged }: Analysis): Promise<boolean> {
      const changed = { ...judged, analyzedBy: analyzed_by, at };
      const rows = await db
        .insert(table)
        .values({ executionId, ...changed })
        .onConflictDoUpdate({
          target: table.executionId,
          set: changed,
          setWhere: sql`(${table.classification}, ${table.confidence}, ${table.summary}, ${table.evidence}, ${table.analyzedBy})
            is distinct from (excluded.classification, excluded.confidence, excluded.summary, excluded.evidence, excluded.analyzed_by)`,
        })
        .returning({ id: table.executionId });
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
        .leftJoin(table, eq(table.executionId, executions.id))
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
        .leftJoin(table, eq(table.executionId, executions.id))
        .where(and(isFinishedTest(since), isNull(table.executionId)))
        .orderBy(asc(executions.finishedAt), asc(executions.id))
        .limit(1);
      return row && { ...row, finished_at: row.finished_at ?? "" };
    },

    /** Ids of those that await analysis, the oldest first; failures, errors and timeouts before the rest. */
    async nextAwaiting(limit: number, since?: string): Promise<string[]> {
      const rows = await db
        .select({ id: executions.id })
        .from(executions)
        .leftJoin(table, eq(table.executionId, executions.id))
        .where(and(isFinishedTest(since), isNull(table.executionId)))
        .orderBy(
          sql`${executions.status} not in ('failed', 'error', 'timeout')`,
          asc(executions.finishedAt),
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
  finished_at: executions.finishedAt,
};

const isFinishedTest = (since: string | undefined) =>
  and(
    sql`${executions.kind} in ('testcase', 'script')`,
    isNotNull(executions.finishedAt),
    since === undefined ? undefined : gte(executions.finishedAt, since),
  );

function toAnalysis(row: typeof executionAnalyses.$inferSelect): Analysis {
  const { executionId, analyzedBy, ...rest } = row;
  return { execution_id: executionId, analyzed_by: analyzedBy, ...rest };
}
