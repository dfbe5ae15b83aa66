import { and, asc, count, desc, eq, isNotNull, lte, min, type SQL, sql } from "drizzle-orm";
import type { DeploymentInput, DeploymentRunStatus, DeploymentStatus } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { deploymentRuns, deployments } from "./schema.ts";

/** `next_at` is there while it is active; `started` counts the due times that became a run. */
export type Deployment = {
  id: string;
  name: string;
  host_name: string;
  body: DeploymentInput;
  status: DeploymentStatus;
  started: number;
  next_at?: string;
  created_by: string;
  created_at: string;
  updated_at: string;
};

/** `last` is how its newest run stands. */
export type ListedDeployment = Deployment & { last?: DeploymentRunStatus };

export type DeploymentRows = ReturnType<typeof deploymentRows>;

export function deploymentRows(db: Database) {
  const first = async (where: SQL): Promise<Deployment | undefined> => {
    const [row] = await db.select().from(deployments).where(where);
    return row && toDeployment(row);
  };
  return {
    ...dueRows(db),

    /** False, and nothing stored, when the name is taken. */
    async insert(deployment: Deployment): Promise<boolean> {
      const rows = await db
        .insert(deployments)
        .values(toRow(deployment))
        .onConflictDoNothing({ target: deployments.name })
        .returning({ id: deployments.id });
      return rows.length > 0;
    },

    async update(deployment: Deployment): Promise<void> {
      await db.update(deployments).set(toRow(deployment)).where(eq(deployments.id, deployment.id));
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
      return row && toDeployment(row);
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
        .where(status === undefined ? undefined : eq(deployments.status, status))
        .orderBy(asc(deployments.name))
        .limit(limit);
      const found = rows.map(({ deployment, last }) => ({
        ...toDeployment(deployment),
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
        .where(and(isActiveOn(hostName), lte(deployments.nextAt, now)))
        .orderBy(asc(deployments.nextAt), asc(deployments.createdAt), asc(deployments.name));
      return rows.map(({ id }) => id);
    },

    /** When the next deployment of a host is due. */
    async earliest(hostName: string): Promise<string | undefined> {
      const [row] = await db
        .select({ at: min(deployments.nextAt) })
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
  and(eq(deployments.hostName, hostName), eq(deployments.status, "active"), isNotNull(deployments.nextAt));

const newestStatus = (db: Database) =>
  sql<DeploymentRunStatus | null>`${db
    .select({ status: deploymentRuns.status })
    .from(deploymentRuns)
    .where(eq(deploymentRuns.deploymentId, deployments.id))
    .orderBy(desc(deploymentRuns.dueAt))
    .limit(1)}`;

function toRow(deployment: Deployment): typeof deployments.$inferInsert {
  return {
    id: deployment.id,
    name: deployment.name,
    hostName: deployment.host_name,
    body: deployment.body,
    status: deployment.status,
    started: deployment.started,
    nextAt: deployment.next_at ?? null,
    createdBy: deployment.created_by,
    createdAt: deployment.created_at,
    updatedAt: deployment.updated_at,
  };
}

export function toDeployment(row: typeof deployments.$inferSelect): Deployment {
  return {
    id: row.id,
    name: row.name,
    host_name: row.hostName,
    body: row.body,
    status: row.status,
    started: row.started,
    ...(row.nextAt !== null && { next_at: row.nextAt }),
    created_by: row.createdBy,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
