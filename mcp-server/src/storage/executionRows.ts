import { and, asc, count, eq, inArray } from "drizzle-orm";
import type { Execution, FinalStatus, Params, Step } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { executions, steps } from "./schema.ts";

const open = ["queued", "running"] as const;

export type NewExecution = Omit<Execution, "finished_at" | "duration_ms" | "reason"> & { input: unknown };

/** How a run ended; `result` is the run's own, as JSON. */
export type ExecutionEnd = {
  status: FinalStatus;
  reason?: { code: string; message: string } | undefined;
  finished_at: string;
  duration_ms: number;
  verified_count: number;
  outputs: Params;
  result: unknown;
};

export type ExecutionRows = ReturnType<typeof executionRows>;

/** Executions and their steps. */
export function executionRows(db: Database) {
  return {
    ...stepRows(db),

    async insert(execution: NewExecution): Promise<void> {
      await db.insert(executions).values(toRow(execution));
    },

    /** A queued execution's turn has come. */
    async start(id: string): Promise<void> {
      await db
        .update(executions)
        .set({ status: "running" })
        .where(and(eq(executions.id, id), eq(executions.status, "queued")));
    },

    /**
     * Ends an open execution and, in the same transaction, does `along`. False, and nothing done, when it had ended
     * already: the first end stands.
     */
    async finish(
      id: string,
      end: ExecutionEnd,
      along: ((tx: Database) => Promise<void>) | undefined,
    ): Promise<boolean> {
      if (!along) return endOpen(db, id, end);
      return db.transaction(async (tx) => {
        if (!(await endOpen(tx, id, end))) return false;
        await along(tx);
        return true;
      });
    },

    async find(id: string): Promise<{ execution: Execution; result: unknown } | undefined> {
      const [row] = await db.select().from(executions).where(eq(executions.id, id));
      return row && { execution: toExecution(row), result: row.result };
    },

    /** What a host has not ended, oldest first. */
    async openOn(hostName: string): Promise<Execution[]> {
      const rows = await db
        .select()
        .from(executions)
        .where(and(eq(executions.hostName, hostName), inArray(executions.status, open)))
        .orderBy(asc(executions.startedAt));
      return rows.map(toExecution);
    },
  };
}

function stepRows(db: Database) {
  return {
    async appendStep(executionId: string, step: Step): Promise<void> {
      await db.insert(steps).values({ executionId, index: step.index, body: step });
    },

    /** In the order in which they were made. */
    async steps(executionId: string): Promise<Step[]> {
      const rows = await db
        .select({ body: steps.body })
        .from(steps)
        .where(eq(steps.executionId, executionId))
        .orderBy(asc(steps.index));
      return rows.map(({ body }) => body);
    },

    async countSteps(executionId: string): Promise<number> {
      const [row] = await db.select({ n: count() }).from(steps).where(eq(steps.executionId, executionId));
      return row?.n ?? 0;
    },
  };
}

function toRow(execution: NewExecution): typeof executions.$inferInsert {
  return {
    id: execution.id,
    kind: execution.kind,
    name: execution.name,
    status: execution.status,
    input: execution.input ?? {},
    startedAt: execution.started_at,
    hostName: execution.host_name,
    device: execution.device,
    deviceModel: execution.device_model,
    deviceVersion: execution.device_version,
    environment: execution.environment,
    release: execution.release,
    build: execution.build,
    userinterface: execution.userinterface,
    triggeredBy: execution.triggered_by,
    correlationId: execution.correlation_id,
    verifiedCount: execution.verified_count,
    outputs: execution.outputs,
  };
}

function toExecution(row: typeof executions.$inferSelect): Execution {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    status: row.status,
    ...given({
      reason: row.reason,
      finished_at: row.finishedAt,
      duration_ms: row.durationMs,
      device_version: row.deviceVersion,
      environment: row.environment,
      release: row.release,
      build: row.build,
      userinterface: row.userinterface,
    }),
    started_at: row.startedAt,
    host_name: row.hostName,
    device: row.device,
    device_model: row.deviceModel,
    triggered_by: row.triggeredBy,
    correlation_id: row.correlationId,
    verified_count: row.verifiedCount,
    outputs: row.outputs,
  };
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** The entries that have a value: a missing column and an absent key are the same thing. */
function given<T extends object>(columns: T): Given<T> {
  const kept: Given<T> = {};
  for (const key in columns) {
    const value = columns[key];
    if (value !== null && value !== undefined) kept[key] = value;
  }
  return kept;
}

async function endOpen(db: Database, id: string, end: ExecutionEnd): Promise<boolean> {
  const ended = await db
    .update(executions)
    .set({
      status: end.status,
      reason: end.reason ?? null,
      finishedAt: end.finished_at,
      durationMs: end.duration_ms,
      verifiedCount: end.verified_count,
      outputs: end.outputs,
      result: end.result ?? null,
    })
    .where(and(eq(executions.id, id), inArray(executions.status, open)))
    .returning({ id: executions.id });
  return ended.length > 0;
}
