import { and, asc, count, desc, eq, ne, or, type SQL, sql } from "drizzle-orm";
import type { Coverage, Requirement, RequirementPriority, RequirementStatus } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { hasValues, withoutNulls } from "../schema/columns.ts";
import { requirementCoverage, requirementLinks, requirements, testcases } from "../schema/index.ts";

/** Without a code it gets the number after the highest: REQ-001, REQ-002 ... */
export type NewRequirement = Omit<Requirement, "code" | "category" | "created_at" | "updated_at"> & {
  code?: string | undefined;
  category?: string | undefined;
};
/** What is left out stays; a null category goes. */
export type RequirementPatch = {
  [Field in Exclude<keyof Requirement, "id" | "category" | "created_at" | "updated_at">]?:
    | Requirement[Field]
    | undefined;
} & { category?: string | null | undefined };

export type RequirementFilter = {
  priority?: RequirementPriority | undefined;
  category?: string | undefined;
  status?: RequirementStatus | undefined;
  /** Each is in the code, the name, the description or a criterion, in upper or lower case. */
  words?: readonly string[] | undefined;
};
export type RequirementLine = Pick<Requirement, "code" | "name" | "priority" | "status" | "category"> & {
  /** How many are linked. */
  testcases: number;
};

export type LinkOutcome = "linked" | "changed" | "unchanged";
export type TracedRequirement = Pick<Requirement, "code" | "name" | "priority" | "status"> & {
  testcase: string;
  /** Of the test case; empty for the database's own. */
  project: string;
  coverage: Coverage;
};
/** A test case by its name in its project. */
export type TracedTest = { name: string; project?: string | undefined };
export type RequirementRows = ReturnType<typeof requirementRows>;

/** Requirements and the test cases that they are linked to. Codes are unique. */
export function requirementRows(db: Database) {
  return {
    /** Undefined, and nothing stored, when the code is taken. */
    async insert(requirement: NewRequirement, at: string): Promise<Requirement | undefined> {
      const { code } = requirement;
      if (code !== undefined) return insert(db, requirement, code, at);
      return db.transaction(async (tx) => {
        await holdCodes(tx);
        return insert(tx, requirement, nextCode, at);
      });
    },

    /** Undefined, and nothing changed, when another has the code. */
    async update(id: string, patch: RequirementPatch, at: string): Promise<Requirement | undefined> {
      const { code } = patch;
      if (code === undefined) return update(db, id, patch, at);
      return db.transaction(async (tx) => {
        await holdCodes(tx);
        const isOther = and(eq(requirements.code, code), ne(requirements.id, id));
        const [other] = await tx.select({ id: requirements.id }).from(requirements).where(isOther);
        return other ? undefined : update(tx, id, patch, at);
      });
    },

    /** A code goes before an id. */
    async find(codeOrId: string): Promise<Requirement | undefined> {
      const [row] = await db
        .select()
        .from(requirements)
        .where(or(eq(requirements.code, codeOrId), eq(requirements.id, codeOrId)))
        .orderBy(desc(eq(requirements.code, codeOrId)))
        .limit(1);
      return row && withoutNulls(row);
    },

    async codes(): Promise<string[]> {
      const rows = await db.select({ code: requirements.code }).from(requirements);
      return rows.map(({ code }) => code);
    },

    /** By code, in byte order whatever the database's collation. */
    async list(filter: RequirementFilter): Promise<RequirementLine[]> {
      const rows = await db
        .select({
          ...headline,
          status: requirements.status,
          testcases: count(requirementCoverage.testcase_id),
        })
        .from(requirements)
        .leftJoin(requirementCoverage, eq(requirementCoverage.requirement_id, requirements.id))
        .where(matches(filter))
        .groupBy(requirements.id)
        .orderBy(byCode);
      return rows.map(withoutNulls);
    },

    ...linkRows(db),
  };
}

function linkRows(db: Database) {
  return {
    /** Links, or changes the coverage of a link, in one statement; says which. */
    async link(
      requirementId: string,
      testcaseId: string,
      coverage: Coverage,
      at: string,
    ): Promise<LinkOutcome> {
      const [row] = await db
        .insert(requirementLinks)
        .values({ requirement_id: requirementId, testcase_id: testcaseId, coverage, at })
        .onConflictDoUpdate({
          target: [requirementLinks.requirement_id, requirementLinks.testcase_id],
          set: { coverage, at },
          setWhere: ne(requirementLinks.coverage, coverage),
        })
        // Only a row version that an insert made has no xmax.
        .returning({ isNew: sql<boolean>`xmax = 0` });
      if (!row) return "unchanged";
      return row.isNew ? "linked" : "changed";
    },

    /** False when there was no link. */
    async unlink(requirementId: string, testcaseId: string): Promise<boolean> {
      const { requirement_id: requirement, testcase_id: testcase } = requirementLinks;
      const rows = await db
        .delete(requirementLinks)
        .where(and(eq(requirement, requirementId), eq(testcase, testcaseId)))
        .returning({ at: requirementLinks.at });
      return rows.length > 0;
    },

    /** How many test cases cover it, by coverage. */
    async linked(requirementId: string): Promise<Record<Coverage, number>> {
      const { coverage } = requirementCoverage;
      const rows = await db
        .select({ coverage, n: count() })
        .from(requirementCoverage)
        .where(eq(requirementCoverage.requirement_id, requirementId))
        .groupBy(coverage);
      const of = (wanted: Coverage) => rows.find((row) => row.coverage === wanted)?.n ?? 0;
      return { full: of("full"), partial: of("partial") };
    },

    /** What the test cases of these names are linked to, by code, then by test case. */
    async requirementsOf(tests: readonly TracedTest[]): Promise<TracedRequirement[]> {
      if (tests.length === 0) return [];
      const isMeant = tests.map(({ name, project = "" }) =>
        and(eq(testcases.name, name), eq(testcases.project, project)),
      );
      return db
        .select({
          code: requirements.code,
          name: requirements.name,
          priority: requirements.priority,
          status: requirements.status,
          testcase: testcases.name,
          project: testcases.project,
          coverage: requirementCoverage.coverage,
        })
        .from(requirementCoverage)
        .innerJoin(requirements, eq(requirements.id, requirementCoverage.requirement_id))
        .innerJoin(testcases, eq(testcases.id, requirementCoverage.testcase_id))
        .where(or(...isMeant))
        .orderBy(byCode, byTestcase);
    },
  };
}

export const headline = {
  code: requirements.code,
  name: requirements.name,
  priority: requirements.priority,
  category: requirements.category,
};
/** In byte order whatever the database's collation. */
export const byCode = asc(sql`${requirements.code} collate "C"`);
export const byTestcase = asc(sql`${testcases.name} collate "C"`);

export function matches({ words = [], ...values }: RequirementFilter): SQL | undefined {
  const criteria = sql`array_to_string(array(select jsonb_array_elements_text(${requirements.acceptance_criteria})), chr(10))`;
  const { code, name, description } = requirements;
  const text = sql`lower(concat_ws(chr(10), ${code}, ${name}, ${description}, ${criteria}))`;
  return and(
    hasValues(requirements, values),
    ...words.map((word) => sql`strpos(${text}, lower(${word})) > 0`),
  );
}

/** Other writers of requirements wait until the transaction ends, so that a code that is free stays free. */
async function holdCodes(tx: Database): Promise<void> {
  await tx.execute(sql`lock table ${requirements} in share row exclusive mode`);
}

const number = sql`substring(${requirements.code} from '^REQ-([0-9]+)$')::numeric`;
const nextCode = sql<string>`(
  select 'REQ-' || lpad(n::text, greatest(3, length(n::text)), '0')
  from (select coalesce(max(${number}), 0) + 1 as n from ${requirements}) as next
)`;

async function insert(
  db: Database,
  requirement: NewRequirement,
  code: string | SQL<string>,
  at: string,
): Promise<Requirement | undefined> {
  const [row] = await db
    .insert(requirements)
    .values({ ...requirement, code, created_at: at, updated_at: at })
    .onConflictDoNothing({ target: requirements.code })
    .returning();
  return row && withoutNulls(row);
}

async function update(
  db: Database,
  id: string,
  patch: RequirementPatch,
  at: string,
): Promise<Requirement | undefined> {
  const [row] = await db
    .update(requirements)
    .set({ ...patch, updated_at: at })
    .where(eq(requirements.id, id))
    .returning();
  return row && withoutNulls(row);
}
