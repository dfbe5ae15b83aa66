import { and, between, desc, eq, inArray, isNotNull, lt, ne, or, type SQL, sql } from "drizzle-orm";
import { alias, type PgColumn } from "drizzle-orm/pg-core";
import type { Attempt, Classification, Execution, RunMark, Step } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { withoutNulls } from "../schema/columns.ts";
import { executionAnalyses, executions, steps } from "../schema/index.ts";
import { isOfProject } from "./executionRows.ts";
import { isFlaky } from "./executionSearch.ts";

/** What a run's judgement is made of. */
export type RunRecord = Pick<Execution, "id" | "kind" | "name" | "status" | "reason" | "attempts"> &
  Pick<Execution, "device" | "userinterface" | "project" | "build" | "started_at" | "verified_count"> & {
    /** In the order of the run. Empty for the passed runs of {@link RunRecords}. */
    unpassed: readonly Pick<Step, "path" | "label" | "status" | "error">[];
    /** The judgement of a person. */
    classification?: Classification;
  };

/** Finished runs, newest first, without the run that is asked about. */
export type RunRecords = {
  /** At most 100 runs of the same test. */
  ofTest(run: Pick<RunRecord, "id" | "kind" | "name" | "project">): Promise<RunRecord[]>;
  /** At most 200 tests that started within `windowMs` of the run, on its device or app. */
  near(run: RunRecord, windowMs: number): Promise<RunRecord[]>;
  /** By the id of each of these runs: at most 15 earlier ones of its test on the same device model and browser or system. */
  marksBefore(ids: readonly string[]): Promise<Map<string, RunMark[]>>;
};

const mostRuns = { ofTest: 100, near: 200, marksBefore: 15 };
const mostSteps = 50;

export function runRecords(db: Database): RunRecords {
  async function find(without: string, where: SQL | undefined, limit: number): Promise<RunRecord[]> {
    const rows = await db
      .select(columns)
      .from(executions)
      .leftJoin(executionAnalyses, eq(executionAnalyses.execution_id, executions.id))
      .where(and(isNotNull(executions.finished_at), ne(executions.id, without), where))
      .orderBy(desc(executions.started_at), desc(executions.id))
      .limit(limit);
    return rows.map(({ required, optional }) => ({ ...required, ...withoutNulls(optional) }));
  }

  return {
    ofTest({ id, kind, name, project }) {
      const isSame = and(eq(executions.kind, kind), eq(executions.name, name), isOfProject(project));
      return find(id, isSame, mostRuns.ofTest);
    },

    async near({ id, device, userinterface, started_at }, windowMs) {
      const after = (ms: number) => new Date(Date.parse(started_at) + ms).toISOString();
      const place = or(
        device === undefined ? undefined : eq(executions.device, device),
        userinterface === undefined ? undefined : eq(executions.userinterface, userinterface),
      );
      if (place === undefined) return [];
      const isTest = inArray(executions.kind, ["testcase", "script"]);
      const isNear = between(executions.started_at, after(-windowMs), after(windowMs));
      return find(id, and(isTest, isNear, place), mostRuns.near);
    },

    async marksBefore(ids) {
      const past = marksBeforeEach(db);
      const { id: execution_id, status, started_at, duration_ms, flaky } = past;
      const rows = await db
        .select({ run: executions.id, execution_id, status, started_at, duration_ms, flaky })
        .from(executions)
        .innerJoinLateral(past, sql`true`)
        .where(inArray(executions.id, [...ids]))
        .orderBy(desc(started_at), desc(execution_id));
      const marks = new Map<string, RunMark[]>();
      for (const { run, flaky: isFlakyOne, ...mark } of rows) {
        const before = marks.get(run) ?? [];
        marks.set(run, [...before, { ...withoutNulls(mark), ...(isFlakyOne && { flaky: true }) }]);
      }
      return marks;
    },
  };
}

/** Joined laterally: the newest runs of its test before each execution. */
function marksBeforeEach(db: Database) {
  const past = alias(executions, "past");
  /** Such as `chromium` of `chromium 141.0`: the browsers of a matrix are of one device model. */
  const family = (version: PgColumn) => sql`split_part(${version}, ' ', 1)`;
  return db
    .select({
      ...{ id: past.id, status: past.status, started_at: past.started_at, duration_ms: past.duration_ms },
      flaky: isFlaky(past.result).as("flaky"),
    })
    .from(past)
    .where(
      and(
        ...[isNotNull(past.finished_at), lt(past.started_at, executions.started_at)],
        ...[eq(past.kind, executions.kind), eq(past.name, executions.name)],
        sql`coalesce(${past.project}, '') = coalesce(${executions.project}, '')`,
        sql`${past.device_model} is not distinct from ${executions.device_model}`,
        sql`coalesce(${family(past.device_version)} = ${family(executions.device_version)}, true)`,
      ),
    )
    .orderBy(desc(past.started_at), desc(past.id))
    .limit(mostRuns.marksBefore)
    .as("marks");
}

const unpassed = sql<RunRecord["unpassed"]>`coalesce((
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('path', body->'path', 'label', body->'label',
    'status', body->'status', 'error', body->'error')) order by index)
  from (select index, body from ${steps} where execution_id = ${executions.id} and ${executions.status} <> 'passed'
    and body->>'status' <> 'passed' order by index desc limit ${mostSteps}) last), '[]')`;

const columns = {
  required: {
    id: executions.id,
    kind: executions.kind,
    name: executions.name,
    status: executions.status,
    started_at: executions.started_at,
    verified_count: executions.verified_count,
    unpassed,
  },
  optional: {
    reason: executions.reason,
    device: executions.device,
    userinterface: executions.userinterface,
    project: executions.project,
    build: executions.build,
    attempts: sql<Attempt[] | null>`${executions.result}->'attempts'`,
    classification: executionAnalyses.classification,
  },
};
