import { type AnyColumn, and, count, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { edges, navigationRuns, nodes, trees } from "./schema.ts";

export type NavigationRun = {
  subject: "edge" | "node";
  subject_id: string;
  /** Of an edge's run only. */
  action_set_id?: string | undefined;
  device_model: string;
  ok: boolean;
  duration_ms: number;
  kpi_ms?: number | undefined;
  execution_id?: string | undefined;
  at: string;
};

export type RunSummary = {
  subject: "edge" | "node";
  subject_id: string;
  action_set_id: string | undefined;
  runs: number;
  successes: number;
  /** Of the runs that went well; of all if none did. */
  median_ms: number;
  kpi_median_ms: number | undefined;
};

const batchSize = 1_000;

const median = (column: AnyColumn, condition: SQL) =>
  sql`percentile_cont(0.5) within group (order by ${column}) filter (where ${condition})`;

const summary = {
  subject: navigationRuns.subject,
  subject_id: navigationRuns.subjectId,
  action_set_id: navigationRuns.actionSetId,
  runs: count(),
  successes: sql`count(*) filter (where ${navigationRuns.ok})`.mapWith(Number),
  median_ms: sql`coalesce(${median(navigationRuns.durationMs, sql`${navigationRuns.ok}`)}, ${median(
    navigationRuns.durationMs,
    sql`true`,
  )})`.mapWith(Number),
  kpi_median_ms: sql<
    number | null
  >`${median(navigationRuns.kpiMs, sql`${navigationRuns.kpiMs} is not null`)}`,
};
const groups = [navigationRuns.subject, navigationRuns.subjectId, navigationRuns.actionSetId] as const;

/** The history of edges and nodes, which path weights and reliability are computed from. */
export function navigationRows(db: Database) {
  return {
    async insert(run: NavigationRun): Promise<void> {
      await db.insert(navigationRuns).values({
        subject: run.subject,
        subjectId: run.subject_id,
        actionSetId: run.action_set_id ?? null,
        deviceModel: run.device_model,
        ok: run.ok,
        durationMs: run.duration_ms,
        kpiMs: run.kpi_ms ?? null,
        executionId: run.execution_id ?? null,
        at: run.at,
      });
    },
    /** All that ran in one userinterface on one model of device. */
    async summaries(userinterfaceId: string, deviceModel: string): Promise<RunSummary[]> {
      const inApp = eq(trees.userinterfaceId, userinterfaceId);
      const ownEdges = db
        .select({ id: edges.id })
        .from(edges)
        .innerJoin(trees, eq(edges.treeId, trees.id))
        .where(inApp);
      const ownNodes = db
        .select({ id: nodes.id })
        .from(nodes)
        .innerJoin(trees, eq(nodes.treeId, trees.id))
        .where(inApp);
      const rows = await db
        .select(summary)
        .from(navigationRuns)
        .where(
          and(
            eq(navigationRuns.deviceModel, deviceModel),
            sql`(${inArray(navigationRuns.subjectId, ownEdges)} or ${inArray(navigationRuns.subjectId, ownNodes)})`,
          ),
        )
        .groupBy(...groups);
      return rows.map(fromRow);
    },
    /** One edge by action set, or one node; on one model of device, or on all. */
    async summaryOf(
      subject: "edge" | "node",
      subjectId: string,
      deviceModel?: string,
    ): Promise<RunSummary[]> {
      const isSubject = and(eq(navigationRuns.subject, subject), eq(navigationRuns.subjectId, subjectId));
      const isModel = deviceModel === undefined ? undefined : eq(navigationRuns.deviceModel, deviceModel);
      const rows = await db
        .select(summary)
        .from(navigationRuns)
        .where(and(isSubject, isModel))
        .groupBy(...groups);
      return rows.map(fromRow);
    },
    /** Forgets what ran of edges and nodes that are gone. */
    async forget(subjectIds: readonly string[]): Promise<void> {
      for (let at = 0; at < subjectIds.length; at += batchSize) {
        const batch = subjectIds.slice(at, at + batchSize);
        await db.delete(navigationRuns).where(inArray(navigationRuns.subjectId, batch));
      }
    },
  };
}

type SummaryRow = Omit<RunSummary, "action_set_id" | "kpi_median_ms"> & {
  action_set_id: string | null;
  kpi_median_ms: number | null;
};

function fromRow(row: SummaryRow): RunSummary {
  return {
    ...row,
    action_set_id: row.action_set_id ?? undefined,
    kpi_median_ms: row.kpi_median_ms === null ? undefined : Number(row.kpi_median_ms),
  };
}
