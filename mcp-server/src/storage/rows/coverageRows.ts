import { and, asc, count, desc, eq, inArray, ne, sql } from "drizzle-orm";
import type { Coverage, ExecutionStatus, Requirement } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { hasValues, withoutNulls } from "../schema/columns.ts";
import { executions, requirementCoverage, requirements, testcases } from "../schema/index.ts";
import { byCode, byTestcase, headline, matches, type RequirementFilter } from "./requirementRows.ts";

/** One that no test case covers in full; `partial` is how many cover a part. */
export type UncoveredRequirement = Pick<Requirement, "code" | "name" | "priority" | "category"> & {
  partial: number;
};

export type RunFilter = {
  environment?: string | undefined;
  release?: string | undefined;
  build?: string | undefined;
  userinterface?: string | undefined;
};
export type LastRun = { status: ExecutionStatus; execution_id: string; at: string };
export type CoveredBy = { testcase: string; coverage: Coverage; run?: LastRun };
export type RequirementCoverage = Pick<Requirement, "code" | "name" | "priority" | "category"> & {
  testcases: CoveredBy[];
};

/** The runs that judged a test case: a run that was stopped, or has not ended, says nothing of it. */
const judged = ["passed", "failed", "error", "timeout"] as const;

export type CoverageRows = ReturnType<typeof coverageRows>;

/** How far requirements are covered. Each of these is one statement, however many requirements there are. */
export function coverageRows(db: Database) {
  return {
    /**
     * Requirements with their test cases and the last judged run of each: that of one id, else all that are not
     * deprecated. By code, then by test case.
     */
    async of(requirementId: string | undefined, runs: RunFilter): Promise<RequirementCoverage[]> {
      const isMeant =
        requirementId === undefined
          ? ne(requirements.status, "deprecated")
          : eq(requirements.id, requirementId);
      const last = lastRuns(db, requirementId, runs);
      const rows = await db
        .with(last)
        .select({
          ...headline,
          testcase: testcases.name,
          coverage: requirementCoverage.coverage,
          status: last.status,
          execution_id: last.id,
          at: last.started_at,
        })
        .from(requirements)
        .leftJoin(requirementCoverage, eq(requirementCoverage.requirement_id, requirements.id))
        .leftJoin(testcases, eq(testcases.id, requirementCoverage.testcase_id))
        .leftJoin(last, and(eq(last.name, testcases.name), eq(last.project, testcases.project)))
        .where(isMeant)
        .orderBy(byCode, byTestcase);
      return grouped(rows);
    },

    /** Those that are not deprecated and that no link covers in full, P1 first, those without a link before others. */
    async uncovered(
      filter: Pick<RequirementFilter, "priority" | "category">,
    ): Promise<UncoveredRequirement[]> {
      const partial = count(requirementCoverage.testcase_id);
      const rows = await db
        .select({ ...headline, partial })
        .from(requirements)
        .leftJoin(requirementCoverage, eq(requirementCoverage.requirement_id, requirements.id))
        .where(and(ne(requirements.status, "deprecated"), matches(filter)))
        .groupBy(requirements.id)
        .having(sql`count(*) filter (where ${requirementCoverage.coverage} = 'full') = 0`)
        .orderBy(asc(requirements.priority), sql`${partial} > 0`, byCode);
      return rows.map(withoutNulls);
    },
  };
}

/** The last judged run of each test case that has a link. */
function lastRuns(db: Database, requirementId: string | undefined, runs: RunFilter) {
  const linked = db
    .select({ name: testcases.name })
    .from(testcases)
    .innerJoin(requirementCoverage, eq(requirementCoverage.testcase_id, testcases.id))
    .where(requirementId === undefined ? undefined : eq(requirementCoverage.requirement_id, requirementId));
  const { id, name, status, started_at } = executions;
  const project = sql<string>`coalesce(${executions.project}, '')`.as("run_project");
  return db.$with("last_run").as(
    db
      .selectDistinctOn([name, project], { id, name, project, status, started_at })
      .from(executions)
      .where(
        and(
          eq(executions.kind, "testcase"),
          inArray(status, judged),
          inArray(name, linked),
          hasValues(executions, runs),
        ),
      )
      .orderBy(name, project, desc(started_at), desc(id)),
  );
}

type CoverageRow = Pick<Requirement, "code" | "name" | "priority"> & {
  category: string | null;
  testcase: string | null;
  coverage: Coverage | null;
  status: ExecutionStatus | null;
  execution_id: string | null;
  at: string | null;
};

/** One entry for each requirement, in the order of the rows. */
function grouped(rows: readonly CoverageRow[]): RequirementCoverage[] {
  const all = new Map<string, RequirementCoverage>();
  for (const row of rows) {
    const { code, name, priority, category } = row;
    const known = all.get(code);
    const found = known ?? withoutNulls({ code, name, priority, category, testcases: [] });
    all.set(code, found);
    const covered = coveredBy(row);
    if (covered) found.testcases.push(covered);
  }
  return [...all.values()];
}

function coveredBy({ testcase, coverage, status, execution_id, at }: CoverageRow): CoveredBy | undefined {
  if (testcase === null || coverage === null) return undefined;
  if (status === null || execution_id === null || at === null) return { testcase, coverage };
  return { testcase, coverage, run: { status, execution_id, at } };
}
