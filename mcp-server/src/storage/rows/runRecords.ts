import { and, between, desc, eq, inArray, isNotNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { Attempt, Classification, Execution, Step } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { withoutNulls } from "../schema/columns.ts";
import { executionAnalyses, executions, steps } from "../schema/index.ts";
import { isOfProject } from "./executionRows.ts";

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
};

const mostRuns = { ofTest: 100, near: 200 };
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
  };
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
