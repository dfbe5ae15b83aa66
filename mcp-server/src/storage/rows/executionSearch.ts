import {
  and,
  count,
  desc,
  eq,
  exists,
  gte,
  inArray,
  isNull,
  lt,
  notInArray,
  type SQL,
  sql,
} from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Classification, Execution, ExecutionKind, ExecutionStatus } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { hasValues, withoutNulls } from "../schema/columns.ts";
import { executionAnalyses, executions, testcases } from "../schema/index.ts";
import { isPresent } from "./sourceRows.ts";

/** What is given must all hold. `since` and `until` bound the start, the latter excluded; `none` is not analysed. */
export type ExecutionFilter = {
  kind?: ExecutionKind | undefined;
  name?: string | undefined;
  status?: ExecutionStatus | undefined;
  /** Id or bare name. */
  device?: string | undefined;
  userinterface?: string | undefined;
  environment?: string | undefined;
  release?: string | undefined;
  build?: string | undefined;
  classification?: Classification | "none" | undefined;
  since?: string | undefined;
  until?: string | undefined;
  correlation_id?: string | undefined;
  /** One that the saved test case of the run has now. */
  tag?: string | undefined;
  /** Any of them, where it is not `kind`. */
  kinds?: readonly ExecutionKind[] | undefined;
  ended?: true | undefined;
};

/** The last run of a page: the next page begins behind it. */
export type ExecutionPlace = { started_at: string; execution_id: string };

export type FoundExecution = Pick<
  Execution,
  "kind" | "name" | "status" | "reason" | "device" | "started_at" | "duration_ms"
> & { execution_id: string; flaky?: true; classification?: Classification };

export type ExecutionSearch = ReturnType<typeof executionSearch>;

/** Finds executions with what they were judged to be. */
export function executionSearch(db: Database) {
  return {
    /**
     * Newest first, from behind `after` on. `left` is how many there are from there on, these included. A run that
     * starts later than the place is not on the pages after it: none is given twice or left out.
     */
    async page(
      filter: ExecutionFilter,
      { after, limit }: { after?: ExecutionPlace | undefined; limit: number },
    ): Promise<{ found: FoundExecution[]; left: number }> {
      const rows = await db
        .select({ ...columns, left: sql`count(*) over ()`.mapWith(Number) })
        .from(executions)
        .leftJoin(executionAnalyses, eq(executionAnalyses.execution_id, executions.id))
        .where(and(matching(filter, db), after && isBehind(after)))
        .orderBy(desc(executions.started_at), desc(executions.id))
        .limit(limit);
      const found = rows.map(({ left: _, flaky, ...row }) => ({
        ...withoutNulls(row),
        ...(flaky && { flaky: true as const }),
      }));
      return { found, left: rows[0]?.left ?? 0 };
    },

    /** Of the whole filter; a status without a run is left out. `flaky` are some of those that passed. */
    async countByStatus(
      filter: ExecutionFilter,
    ): Promise<Partial<Record<ExecutionStatus | "flaky", number>>> {
      const rows = await db
        .select({
          status: executions.status,
          n: count(),
          flaky: sql`count(*) filter (where ${isFlaky(executions.result)})`.mapWith(Number),
        })
        .from(executions)
        .leftJoin(executionAnalyses, eq(executionAnalyses.execution_id, executions.id))
        .where(matching(filter, db))
        .groupBy(executions.status)
        .orderBy(executions.status);
      const flaky = rows.reduce((sum, row) => sum + row.flaky, 0);
      const counts = Object.fromEntries(rows.map(({ status, n }) => [status, n]));
      return { ...counts, ...(flaky > 0 && { flaky }) };
    },
  };
}

/** A device's column against its id or its bare name. */
export const isDevice = (column: PgColumn, name: string): SQL =>
  sql`${name}::text in (${column}, split_part(${column}, '/', 2))`;

export const isFlaky = (result: PgColumn): SQL<boolean> => sql`coalesce(${result}->>'flaky', '') = 'true'`;

const columns = {
  execution_id: executions.id,
  kind: executions.kind,
  name: executions.name,
  status: executions.status,
  reason: executions.reason,
  device: executions.device,
  started_at: executions.started_at,
  duration_ms: executions.duration_ms,
  flaky: isFlaky(executions.result).mapWith(Boolean),
  classification: executionAnalyses.classification,
};

const isBehind = (place: ExecutionPlace): SQL =>
  sql`(${executions.started_at}, ${executions.id}) < (${place.started_at}::timestamptz, ${place.execution_id}::text)`;

function matching({ kinds, ended, tag, ...filter }: ExecutionFilter, db: Database): SQL | undefined {
  const { device, classification, since, until, ...values } = filter;
  return and(
    kinds && inArray(executions.kind, [...kinds]),
    ended && notInArray(executions.status, ["queued", "running"]),
    tag === undefined ? undefined : hasTag(tag, db),
    hasValues(executions, values),
    device === undefined ? undefined : isDevice(executions.device, device),
    classification === undefined ? undefined : isClassified(classification),
    since === undefined ? undefined : gte(executions.started_at, since),
    until === undefined ? undefined : lt(executions.started_at, until),
  );
}

/** A run for a row has another name than its test case. */
function hasTag(tag: string, db: Database): SQL | undefined {
  const isOfRun = and(
    eq(testcases.name, sql`coalesce(${executions.input}->>'testcase', ${executions.name})`),
    eq(testcases.project, sql`coalesce(${executions.project}, '')`),
  );
  const isTagged = sql`${testcases.body}->'tags' @> to_jsonb(${tag}::text)`;
  const tests = db.select({ id: testcases.id }).from(testcases);
  return and(
    eq(executions.kind, "testcase"),
    exists(tests.where(and(isPresent(testcases), isOfRun, isTagged))),
  );
}

const isClassified = (classification: Classification | "none"): SQL =>
  classification === "none"
    ? isNull(executionAnalyses.execution_id)
    : eq(executionAnalyses.classification, classification);
