import { and, asc, count, desc, eq, isNotNull, lte, min, type SQL, sql } from "drizzle-orm";
import type { DeploymentRunStatus, DeploymentStatus } from "../../../domain/index.ts";
import type { Database } from "../../engine/database.ts";
import { everyColumn, hasValues, type WithoutNulls, withoutNulls } from "../../schema/columns.ts";
import { deploymentRuns, deployments } from "../../schema/index.ts";

/** `next_at` is there while it is active; `started` counts the due times that became a run. */
export type Deployment = WithoutNulls<typeof deployments.$inferSelect>;

/** `last` is how its newest run stands. */
export type ListedDeployment = Deployment & { last?: DeploymentRunStatus };

export type DeploymentRows = ReturnType<typeof deploymentRows>;

export function deploymentRows(db: Database) {
  const first = async (where: SQL): Promise<Deployment | undefined> => {
    const [row] = await db.select().from(deployments).where(where);
    return row && withoutNulls(row);
  };
  return {
    ...dueRows(db),

    /** False, and nothing stored, when the name is taken. */
    async insert(deployment: Deployment): Promise<boolean> {
      const rows = await db
        .insert(deployments)
        .values(deployment)
        .onConflictDoNothing({ target: deployments.name })
        .returning({ id: deployments.id });
      return rows.length > 0;
    },

    async update(deployment: Deployment): Promise<void> {
      await db
        .update(deployments)
        .set(everyColumn(deployments, deployment))
        .where(eq(deployments.id, deployment.id));
    },

    /** With its runs. */
    async remove(id: string): Promise<void> {
      await db.delete(deployments).where(eq(deployments.id, id));
    },

    /** By name, else by id. */
    async find(ref: string): Promise<Deployment | undefined> {
      return (await first(eq(deployments.name, ref))) ?? (await first(eq(deployments.id, ref)));
    },

    /** Held until the caller's transaction ends. */
    async claim(id: string): Promise<Deployment | undefined> {
      const [row] = await db.select().from(deployments).where(eq(deployments.id, id)).for("update");
      return row && withoutNulls(row);
    },

    async names(): Promise<string[]> {
      const rows = await db.select({ name: deployments.name }).from(deployments).orderBy(deployments.name);
      return rows.map(({ name }) => name);
    },

    /** By name; `total` is how many there are. */
    async list(
      status: DeploymentStatus | undefined,
      limit: number,
    ): Promise<{ found: ListedDeployment[]; total: number }> {
      const rows = await db
        .select({
          deployment: deployments,
          last: newestStatus(db),
          total: sql`count(*) over ()`.mapWith(Number),
        })
        .from(deployments)
        .where(hasValues(deployments, { status }))
        .orderBy(asc(deployments.name))
        .limit(limit);
      const found = rows.map(({ deployment, last }) => ({
        ...withoutNulls(deployment),
        ...(last !== null && { last }),
      }));
      return { found, total: rows[0]?.total ?? 0 };
    },
  };
}

function dueRows(db: Database) {
  return {
    /** Ids of a host's active deployments that are due, the longest due first, then the oldest. */
    async due(hostName: string, now: string): Promise<string[]> {
      const rows = await db
        .select({ id: deployments.id })
        .from(deployments)
        .where(and(isActiveOn(hostName), lte(deployments.next_at, now)))
        .orderBy(asc(deployments.next_at), asc(deployments.created_at), asc(deployments.name));
      return rows.map(({ id }) => id);
    },

    /** When the next deployment of a host is due. */
    async earliest(hostName: string): Promise<string | undefined> {
      const [row] = await db
        .select({ at: min(deployments.next_at) })
        .from(deployments)
        .where(isActiveOn(hostName));
      return row?.at ?? undefined;
    },

    async countActive(hostName: string): Promise<number> {
      const [row] = await db.select({ active: count() }).from(deployments).where(isActiveOn(hostName));
      return row?.active ?? 0;
    },
  };
}

const isActiveOn = (hostName: string) =>
  and(eq(deployments.host_name, hostName), eq(deployments.status, "active"), isNotNull(deployments.next_at));

const newestStatus = (db: Database) =>
  sql<DeploymentRunStatus | null>`${db
    .select({ status: deploymentRuns.status })
    .from(deploymentRuns)
    .where(eq(deploymentRuns.deployment_id, deployments.id))
    .orderBy(desc(deploymentRuns.due_at))
    .limit(1)}`;
