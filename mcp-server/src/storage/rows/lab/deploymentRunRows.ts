import { and, asc, count, desc, eq, inArray, sql } from "drizzle-orm";
import type { DeploymentRunStatus, Execution } from "../../../domain/index.ts";
import type { Database } from "../../engine/database.ts";
import { hasValues, type WithoutNulls, withoutNulls } from "../../schema/columns.ts";
import { deploymentRuns, deployments } from "../../schema/index.ts";
import type { Deployment } from "./deploymentRows.ts";

/** One due time of a deployment and what became of it. */
export type DeploymentRun = WithoutNulls<typeof deploymentRuns.$inferSelect>;
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
        .values(run)
        .onConflictDoNothing({ target: [deploymentRuns.deployment_id, deploymentRuns.due_at] })
        .returning({ id: deploymentRuns.id });
      return rows.length > 0;
    },

    /** A run with its deployment. */
    async find(id: string): Promise<{ run: DeploymentRun; deployment: Deployment } | undefined> {
      const [row] = await db
        .select({ run: deploymentRuns, deployment: deployments })
        .from(deploymentRuns)
        .innerJoin(deployments, eq(deployments.id, deploymentRuns.deployment_id))
        .where(eq(deploymentRuns.id, id));
      return row && { run: withoutNulls(row.run), deployment: withoutNulls(row.deployment) };
    },

    /** A queued run's turn has come. False when it is not queued any more. */
    async start(id: string, at: string): Promise<boolean> {
      const rows = await db
        .update(deploymentRuns)
        .set({ status: "running", started_at: at })
        .where(and(eq(deploymentRuns.id, id), eq(deploymentRuns.status, "queued")))
        .returning({ id: deploymentRuns.id });
      return rows.length > 0;
    },

    async setExecution(id: string, executionId: string): Promise<void> {
      await db.update(deploymentRuns).set({ execution_id: executionId }).where(eq(deploymentRuns.id, id));
    },

    /** Ends an open run; a reason that it had stays if the end has none. False when it had ended or is gone. */
    async end(id: string, end: DeploymentRunEnd): Promise<boolean> {
      const rows = await db
        .update(deploymentRuns)
        .set(end)
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
        .where(and(eq(deploymentRuns.deployment_id, deploymentId), inArray(deploymentRuns.status, open)))
        .orderBy(asc(deploymentRuns.due_at));
      return rows.map(withoutNulls);
    },

    /** What is queued or running on a host, oldest first; of one time in the order in which their deployments were made. */
    async openOn(hostName: string): Promise<{ run: DeploymentRun; deployment: Deployment }[]> {
      const rows = await db
        .select({ run: deploymentRuns, deployment: deployments })
        .from(deploymentRuns)
        .innerJoin(deployments, eq(deployments.id, deploymentRuns.deployment_id))
        .where(and(eq(deployments.host_name, hostName), inArray(deploymentRuns.status, open)))
        .orderBy(asc(deploymentRuns.due_at), asc(deployments.created_at), asc(deployments.name));
      return rows.map((row) => ({ run: withoutNulls(row.run), deployment: withoutNulls(row.deployment) }));
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
        .where(hasValues(deploymentRuns, { deployment_id: deploymentId, status }))
        .orderBy(desc(deploymentRuns.due_at))
        .limit(limit);
      return { found: rows.map(({ run }) => withoutNulls(run)), total: rows[0]?.total ?? 0 };
    },

    async countOf(deploymentId: string): Promise<number> {
      const [row] = await db
        .select({ runs: count() })
        .from(deploymentRuns)
        .where(eq(deploymentRuns.deployment_id, deploymentId));
      return row?.runs ?? 0;
    },
  };
}
