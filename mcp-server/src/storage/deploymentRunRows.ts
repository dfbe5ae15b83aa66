import { and, asc, count, desc, eq, inArray, sql } from "drizzle-orm";
import type { DeploymentRunStatus, Execution } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { type Deployment, toDeployment } from "./deploymentRows.ts";
import { deploymentRuns, deployments } from "./schema.ts";

/** One due time of a deployment and what became of it. */
export type DeploymentRun = {
  id: string;
  deployment_id: string;
  due_at: string;
  status: DeploymentRunStatus;
  reason?: NonNullable<Execution["reason"]>;
  execution_id?: string;
  started_at?: string;
  finished_at?: string;
};
export type DeploymentRunEnd = {
  status: Exclude<DeploymentRunStatus, "queued" | "running">;
  reason?: Execution["reason"];
  execution_id?: string | undefined;
  finished_at: string;
};

const open = ["queued", "running"] as const;

export type DeploymentRunRows = ReturnType<typeof deploymentRunRows>;

export function deploymentRunRows(db: Database) {
  return {
    ...openRuns(db),
    ...pastRuns(db),

    /** False, and nothing stored, when that due time was claimed before. */
    async insert(run: DeploymentRun): Promise<boolean> {
      const rows = await db
        .insert(deploymentRuns)
        .values(toRow(run))
        .onConflictDoNothing({ target: [deploymentRuns.deploymentId, deploymentRuns.dueAt] })
        .returning({ id: deploymentRuns.id });
      return rows.length > 0;
    },

    /** A run with its deployment. */
    async find(id: string): Promise<{ run: DeploymentRun; deployment: Deployment } | undefined> {
      const [row] = await db
        .select({ run: deploymentRuns, deployment: deployments })
        .from(deploymentRuns)
        .innerJoin(deployments, eq(deployments.id, deploymentRuns.deploymentId))
        .where(eq(deploymentRuns.id, id));
      return row && { run: toRun(row.run), deployment: toDeployment(row.deployment) };
    },

    /** A queued run's turn has come. False when it is not queued any more. */
    async start(id: string, at: string): Promise<boolean> {
      const rows = await db
        .update(deploymentRuns)
        .set({ status: "running", startedAt: at })
        .where(and(eq(deploymentRuns.id, id), eq(deploymentRuns.status, "queued")))
        .returning({ id: deploymentRuns.id });
      return rows.length > 0;
    },

    async setExecution(id: string, executionId: string): Promise<void> {
      await db.update(deploymentRuns).set({ executionId }).where(eq(deploymentRuns.id, id));
    },

    /** Ends an open run; a reason that it had stays if the end has none. False when it had ended or is gone. */
    async end(id: string, end: DeploymentRunEnd): Promise<boolean> {
      const { status, reason, execution_id: executionId, finished_at: finishedAt } = end;
      const rows = await db
        .update(deploymentRuns)
        .set({ status, finishedAt, ...(executionId && { executionId }), ...(reason && { reason }) })
        .where(and(eq(deploymentRuns.id, id), inArray(deploymentRuns.status, open)))
        .returning({ id: deploymentRuns.id });
      return rows.length > 0;
    },
  };
}

function openRuns(db: Database) {
  return {
    /** What is queued or running of a deployment, oldest first. */
    async openOf(deploymentId: string): Promise<DeploymentRun[]> {
      const rows = await db
        .select()
        .from(deploymentRuns)
        .where(and(eq(deploymentRuns.deploymentId, deploymentId), inArray(deploymentRuns.status, open)))
        .orderBy(asc(deploymentRuns.dueAt));
      return rows.map(toRun);
    },

    /** What is queued or running on a host, oldest first. */
    async openOn(hostName: string): Promise<{ run: DeploymentRun; deployment: Deployment }[]> {
      const rows = await db
        .select({ run: deploymentRuns, deployment: deployments })
        .from(deploymentRuns)
        .innerJoin(deployments, eq(deployments.id, deploymentRuns.deploymentId))
        .where(and(eq(deployments.hostName, hostName), inArray(deploymentRuns.status, open)))
        .orderBy(asc(deploymentRuns.dueAt), asc(deploymentRuns.id));
      return rows.map((row) => ({ run: toRun(row.run), deployment: toDeployment(row.deployment) }));
    },
  };
}

function pastRuns(db: Database) {
  return {
    /** Newest first; `total` is how many there are. */
    async history(
      deploymentId: string,
      status: DeploymentRunStatus | undefined,
      limit: number,
    ): Promise<{ found: DeploymentRun[]; total: number }> {
      const rows = await db
        .select({ run: deploymentRuns, total: sql`count(*) over ()`.mapWith(Number) })
        .from(deploymentRuns)
        .where(
          and(
            eq(deploymentRuns.deploymentId, deploymentId),
            status === undefined ? undefined : eq(deploymentRuns.status, status),
          ),
        )
        .orderBy(desc(deploymentRuns.dueAt))
        .limit(limit);
      return { found: rows.map(({ run }) => toRun(run)), total: rows[0]?.total ?? 0 };
    },

    async countOf(deploymentId: string): Promise<number> {
      const [row] = await db
        .select({ runs: count() })
        .from(deploymentRuns)
        .where(eq(deploymentRuns.deploymentId, deploymentId));
      return row?.runs ?? 0;
    },
  };
}

function toRow(run: DeploymentRun): typeof deploymentRuns.$inferInsert {
  return {
    id: run.id,
    deploymentId: run.deployment_id,
    dueAt: run.due_at,
    status: run.status,
    reason: run.reason ?? null,
    executionId: run.execution_id ?? null,
    startedAt: run.started_at ?? null,
    finishedAt: run.finished_at ?? null,
  };
}

function toRun(row: typeof deploymentRuns.$inferSelect): DeploymentRun {
  return {
    id: row.id,
    deployment_id: row.deploymentId,
    due_at: row.dueAt,
    status: row.status,
    ...(row.reason && { reason: row.reason }),
    ...(row.executionId !== null && { execution_id: row.executionId }),
    ...(row.startedAt !== null && { started_at: row.startedAt }),
    ...(row.finishedAt !== null && { finished_at: row.finishedAt }),
  };
}
