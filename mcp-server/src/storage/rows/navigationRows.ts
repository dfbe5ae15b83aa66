import { type AnyColumn, and, count, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { hasValues } from "../schema/columns.ts";
import { edges, navigationRuns, nodes, trees, userinterfaces } from "../schema/index.ts";

export type NavigationRun = Omit<typeof navigationRuns.$inferInsert, "id">;

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

export type NodeFlips = { label: string; userinterface: string; device_model: string; flips: number };

const batchSize = 1_000;

const median = (column: AnyColumn, condition: SQL) =>
  sql`percentile_cont(0.5) within group (order by ${column}) filter (where ${condition})`;

const summary = {
  subject: navigationRuns.subject,
  subject_id: navigationRuns.subject_id,
  action_set_id: navigationRuns.action_set_id,
  runs: count(),
  successes: sql`count(*) filter (where ${navigationRuns.ok})`.mapWith(Number),
  median_ms: sql`coalesce(${median(navigationRuns.duration_ms, sql`${navigationRuns.ok}`)}, ${median(
    navigationRuns.duration_ms,
    sql`true`,
  )})`.mapWith(Number),
  kpi_median_ms: sql<
    number | null
  >`${median(navigationRuns.kpi_ms, sql`${navigationRuns.kpi_ms} is not null`)}`,
};
const groups = [navigationRuns.subject, navigationRuns.subject_id, navigationRuns.action_set_id] as const;

/** The history of edges and nodes, which path weights and reliability are computed from. */
export function navigationRows(db: Database) {
  return {
    async insert(run: NavigationRun): Promise<void> {
      await db.insert(navigationRuns).values(run);
    },
    /** All that ran in one userinterface; on one model of device, or on all. */
    async summaries(userinterfaceId: string, deviceModel?: string): Promise<RunSummary[]> {
      const inApp = eq(trees.userinterface_id, userinterfaceId);
      const ownEdges = db
        .select({ id: edges.id })
        .from(edges)
        .innerJoin(trees, eq(edges.tree_id, trees.id))
        .where(inApp);
      const ownNodes = db
        .select({ id: nodes.id })
        .from(nodes)
        .innerJoin(trees, eq(nodes.tree_id, trees.id))
        .where(inApp);
      const rows = await db
        .select(summary)
        .from(navigationRuns)
        .where(
          and(
            hasValues(navigationRuns, { device_model: deviceModel }),
            sql`(${inArray(navigationRuns.subject_id, ownEdges)} or ${inArray(navigationRuns.subject_id, ownNodes)})`,
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
      const rows = await db
        .select(summary)
        .from(navigationRuns)
        .where(hasValues(navigationRuns, { subject, subject_id: subjectId, device_model: deviceModel }))
        .groupBy(...groups);
      return rows.map(fromRow);
    },
    /** The nodes that did not show in an execution, and how often their result changed in the last 20 runs. */
    async flipsOf(executionId: string): Promise<NodeFlips[]> {
      const { rows } = await db.execute<NodeFlips>(sql`
        select n.label, u.name as userinterface, run.device_model,
          (count(*) filter (where run.ok <> run.before))::int as flips
        from (
          select *, lag(ok) over same as before, row_number() over (partition by subject_id, device_model order by id desc) as age
          from ${navigationRuns}
          where subject = 'node' and (subject_id, device_model) in (
            select subject_id, device_model from ${navigationRuns}
            where subject = 'node' and not ok and execution_id = ${executionId})
          window same as (partition by subject_id, device_model order by id)
        ) run
          join ${nodes} n on n.id = run.subject_id join ${trees} t on t.id = n.tree_id
          join ${userinterfaces} u on u.id = t.userinterface_id
        where run.age < 20
        group by n.id, n.label, u.name, run.device_model`);
      return rows;
    },
    /** Forgets what ran of edges and nodes that are gone. */
    async forget(subjectIds: readonly string[]): Promise<void> {
      for (let at = 0; at < subjectIds.length; at += batchSize) {
        const batch = subjectIds.slice(at, at + batchSize);
        await db.delete(navigationRuns).where(inArray(navigationRuns.subject_id, batch));
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
