import { and, asc, count, desc, eq, getTableColumns, inArray, isNull, placeholder, sql } from "drizzle-orm";
import { z } from "zod";
import {
  attemptSchema,
  type Execution,
  type FinalStatus,
  type Params,
  type Step,
} from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { everyColumn, withoutNulls } from "../schema/columns.ts";
import { executions, steps } from "../schema/index.ts";

const open = ["queued", "running"] as const;

export type NewExecution = Omit<
  Execution,
  "finished_at" | "duration_ms" | "reason" | "session_url" | "attempts" | "flaky" | "rerun"
> & { input: unknown };

/** How a run ended; `result` is the run's own, as JSON. */
export type ExecutionEnd = {
  status: FinalStatus;
  reason?: { code: string; message: string } | undefined;
  finished_at: string;
  duration_ms: number;
  session_url?: string | undefined;
  verified_count: number;
  outputs: Params;
  result: unknown;
};

/** A run that is over and of which nothing is stored yet. */
export type FinishedRun = { execution: NewExecution; steps: readonly Step[]; end: ExecutionEnd };

export type ExecutionRows = ReturnType<typeof executionRows>;

/** Executions and their steps. */
export function executionRows(db: Database) {
  const { insert, end: endPrepared, finished } = statements(db);
  return {
    ...stepRows(db),
    ...foundRows(db),

    /** Once: a second time, as after a connection that was lost with the word of the first, changes nothing. */
    async insert(execution: NewExecution): Promise<void> {
      await insert.execute(toRow(execution));
    },

    /** With its steps and its end, in one statement. One that has ended already stays as it is. */
    async insertFinished(run: FinishedRun): Promise<void> {
      await finished.execute(finishedRunValues([run]));
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
      if (!along) return (await endPrepared.execute(endValues(id, end))).length > 0;
      return db.transaction(async (tx) => {
        if ((await statements(tx).end.execute(endValues(id, end))).length === 0) return false;
        await along(tx);
        return true;
      });
    },
  };
}

/** Whether a run is of a project's test case; of none, where none is named. */
export const isOfProject = (project: string | undefined) =>
  project === undefined || project === "" ? isNull(executions.project) : eq(executions.project, project);

type OfBuild = string | { any: true } | undefined;

function isOfBuild(build: OfBuild) {
  if (typeof build === "object") return undefined;
  return build === undefined ? isNull(executions.build) : eq(executions.build, build);
}

const started = {
  id: placeholder("id"),
  kind: placeholder("kind"),
  name: placeholder("name"),
  status: placeholder("status"),
  input: placeholder("input"),
  started_at: placeholder("started_at"),
  host_name: placeholder("host_name"),
  device: placeholder("device"),
  device_model: placeholder("device_model"),
  device_version: placeholder("device_version"),
  environment: placeholder("environment"),
  release: placeholder("release"),
  build: placeholder("build"),
  userinterface: placeholder("userinterface"),
  project: placeholder("project"),
  triggered_by: placeholder("triggered_by"),
  correlation_id: placeholder("correlation_id"),
  verified_count: placeholder("verified_count"),
  outputs: placeholder("outputs"),
};
const ended = {
  status: sql`${placeholder("status")}`,
  reason: sql`${placeholder("reason")}::jsonb`,
  finished_at: sql`${placeholder("finished_at")}`,
  duration_ms: sql`${placeholder("duration_ms")}`,
  session_url: sql`${placeholder("session_url")}`,
  verified_count: sql`${placeholder("verified_count")}`,
  outputs: sql`${placeholder("outputs")}::jsonb`,
  result: sql`${placeholder("result")}::jsonb`,
};

/** What every run makes, prepared once. */
function statements(db: Database) {
  const { run, step } = finishedRuns(db);
  return {
    insert: db.insert(executions).values(started).onConflictDoNothing().prepare("insert_execution"),
    end: db
      .update(executions)
      .set(ended)
      .where(and(eq(executions.id, placeholder("id")), inArray(executions.status, open)))
      .returning({ id: executions.id })
      .prepare("end_execution"),
    finished: db.with(run, step).select({ id: run.id }).from(run).prepare("insert_finished_execution"),
  };
}

/** What stores runs that are over, as parts of a statement that {@link finishedRunValues} gives its values. */
export function finishedRuns(db: Database) {
  const names = sql.join(
    Object.keys(getTableColumns(executions)).map((name) => sql.identifier(name)),
    sql`, `,
  );
  const run = db.$with("run").as(
    db
      .insert(executions)
      .select(
        sql`select ${names} from jsonb_populate_recordset(null::${executions}, ${placeholder("runs")}::jsonb)`,
      )
      .onConflictDoUpdate({
        target: executions.id,
        set: endOfInserted,
        setWhere: inArray(executions.status, open),
      })
      .returning({ id: executions.id }),
  );
  const step = db.$with("step").as(
    db
      .insert(steps)
      .select(
        sql`select run.id, (body->>'index')::int, body from run, jsonb_array_elements(${placeholder("steps")}::jsonb->run.id) body`,
      )
      .returning({ index: steps.index }),
  );
  return { run, step };
}

export function finishedRunValues(runs: readonly FinishedRun[]): { runs: string; steps: string } {
  const rows = runs.map(({ execution, end }) => everyColumn(executions, { ...toRow(execution), ...end }));
  const steps = Object.fromEntries(runs.map((run) => [run.execution.id, run.steps]));
  return { runs: JSON.stringify(rows), steps: JSON.stringify(steps) };
}

/** The row may be there: the database took it, and its word was lost with the connection. */
const endOfInserted = Object.fromEntries(
  Object.keys(ended).map((key) => [key, sql`excluded.${sql.identifier(key)}`]),
);

function foundRows(db: Database) {
  return {
    async find(id: string): Promise<{ execution: Execution; result: unknown } | undefined> {
      const [row] = await db.select().from(executions).where(eq(executions.id, id));
      return row && { execution: toExecution(row), result: row.result };
    },

    /** The last run of a test case that has a verdict, on a build, on none, or on `any`. */
    async lastRun(test: { name: string; project?: string; build?: OfBuild }): Promise<Execution | undefined> {
      const { name, project, build } = test;
      const [row] = await db
        .select()
        .from(executions)
        .where(
          and(
            eq(executions.kind, "testcase"),
            eq(executions.name, name),
            isOfProject(project),
            isOfBuild(build),
            inArray(executions.status, ["passed", "failed", "error", "timeout"]),
          ),
        )
        .orderBy(desc(executions.started_at), desc(executions.id))
        .limit(1);
      return row && toExecution(row);
    },

    /** What a host has not ended, oldest first. */
    async openOn(hostName: string): Promise<Execution[]> {
      const rows = await db
        .select()
        .from(executions)
        .where(and(eq(executions.host_name, hostName), inArray(executions.status, open)))
        .orderBy(asc(executions.started_at));
      return rows.map(toExecution);
    },
  };
}

function stepRows(db: Database) {
  const append = db
    .insert(steps)
    .values({
      execution_id: placeholder("execution_id"),
      index: placeholder("index"),
      body: placeholder("body"),
    })
    .onConflictDoNothing()
    .prepare("append_step");
  return {
    async appendStep(executionId: string, step: Step): Promise<void> {
      await append.execute({ execution_id: executionId, index: step.index, body: step });
    },

    /** In the order in which they were made. */
    async steps(executionId: string): Promise<Step[]> {
      const rows = await db
        .select({ body: steps.body })
        .from(steps)
        .where(eq(steps.execution_id, executionId))
        .orderBy(asc(steps.index));
      return rows.map(({ body }) => body);
    },

    async countSteps(executionId: string): Promise<number> {
      const [row] = await db.select({ n: count() }).from(steps).where(eq(steps.execution_id, executionId));
      return row?.n ?? 0;
    },
  };
}

const toRow = (execution: NewExecution) =>
  everyColumn(executions, { ...execution, input: execution.input ?? {} });

function endValues(id: string, end: ExecutionEnd) {
  const json = (given: unknown) => (given === null || given === undefined ? null : JSON.stringify(given));
  const { reason, session_url = null, outputs, result } = end;
  return { ...end, id, reason: json(reason), session_url, outputs: json(outputs), result: json(result) };
}

function toExecution({ result, ...row }: typeof executions.$inferSelect): Execution {
  return { ...withoutNulls(row), input: row.input, ...(resultFacts.safeParse(result).data ?? {}) };
}

/** What a run's own result says of the run. */
const resultFacts = z
  .object({ attempts: z.array(attemptSchema), flaky: z.boolean(), rerun: z.string() })
  .partial();
