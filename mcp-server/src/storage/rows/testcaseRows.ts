import { and, asc, eq, isNotNull, or, sql } from "drizzle-orm";
import type { Source, TestCase, TestCaseInput } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { hasValues } from "../schema/columns.ts";
import { testcases } from "../schema/index.ts";
import { isPresent, sourceRows } from "./sourceRows.ts";

export type TestcaseRows = ReturnType<typeof testcaseRows>;

/** A test case as it is saved: by the name that it has in its project. */
export type SavedTest = {
  id: string;
  testcase: TestCaseInput;
  source: Source;
  /** Its place among the tests of its file. */
  file_position?: number | undefined;
};

/** Saved test cases. Names are unique in a project. */
export function testcaseRows(db: Database) {
  return {
    ...sourceRows(db, testcases),
    ...readRows(db),

    /** Saves by name in one statement; `id` is used only when the name is new. What was archived is back. */
    async upsert(
      { id, testcase, source, file_position }: SavedTest,
      at: string,
    ): Promise<{ id: string; created: boolean }> {
      const { name, ...changed } = columnsOf(testcase, at);
      const set = { ...changed, ...source, file_position, archived_at: null };
      const [row] = await db
        .insert(testcases)
        .values({ id, name, created_at: at, ...set })
        .onConflictDoUpdate({ target: [testcases.project, testcases.name], set })
        .returning({ id: testcases.id });
      return { id: row?.id ?? id, created: row?.id === id };
    },

    /** Gives the id that it has, that of an archived one of its name; undefined, and nothing is changed, when the name is taken. */
    async insert({ id, testcase, source }: SavedTest, at: string): Promise<string | undefined> {
      const columns = { ...columnsOf(testcase, at), ...source, archived_at: null };
      const [row] = await db
        .insert(testcases)
        .values({ id, created_at: at, ...columns })
        .onConflictDoUpdate({
          target: [testcases.project, testcases.name],
          set: columns,
          setWhere: isNotNull(testcases.archived_at),
        })
        .returning({ id: testcases.id });
      return row?.id;
    },

    /** Saves one under the name that it has now, which may be another than before; an archived one of that name goes. */
    async update({ id, testcase, source }: SavedTest, at: string): Promise<void> {
      const isInTheWay = and(
        eq(testcases.project, source.project),
        eq(testcases.name, testcase.name),
        isNotNull(testcases.archived_at),
      );
      await db.delete(testcases).where(isInTheWay);
      await db.update(testcases).set(columnsOf(testcase, at)).where(eq(testcases.id, id));
    },

    async remove(id: string): Promise<boolean> {
      const rows = await db.delete(testcases).where(eq(testcases.id, id)).returning({ id: testcases.id });
      return rows.length > 0;
    },
  };
}

function readRows(db: Database) {
  return {
    /** The one of that id, else those of that name, one of each project at most. */
    async named(idOrName: string): Promise<TestCase[]> {
      const isNamed = and(eq(testcases.name, idOrName), isPresent(testcases));
      const rows = await db
        .select()
        .from(testcases)
        .where(or(eq(testcases.id, idOrName), isNamed));
      return rows.map(toTestcase);
    },

    /** By name, in byte order whatever the database's collation; of an app, those of its project. */
    async list(app?: { name: string; project?: string | undefined }): Promise<TestCase[]> {
      const rows = await db
        .select()
        .from(testcases)
        .where(
          and(
            isPresent(testcases),
            hasValues(testcases, { userinterface_name: app?.name, project: app?.project }),
          ),
        )
        .orderBy(asc(sql`${testcases.name} collate "C"`));
      return rows.map(toTestcase);
    },

    async names(): Promise<string[]> {
      const rows = await db.select({ name: testcases.name }).from(testcases).where(isPresent(testcases));
      return rows.map(({ name }) => name);
    },

    /** Those of a project, archived ones left out: each file's in its order, then what was added to it. */
    async ofProject(project: string): Promise<TestCase[]> {
      const rows = await db
        .select()
        .from(testcases)
        .where(and(isPresent(testcases), eq(testcases.project, project)))
        .orderBy(asc(testcases.file), sql`${testcases.file_position} nulls last`, asc(testcases.created_at));
      return rows.map(toTestcase);
    },
  };
}

const columnsOf = (testcase: TestCaseInput, at: string) => ({
  name: testcase.name,
  userinterface_name: testcase.userinterface_name ?? null,
  body: testcase,
  updated_at: at,
});

function toTestcase(row: typeof testcases.$inferSelect): TestCase {
  const { body, id, created_at, updated_at, project, file, file_hash } = row;
  return { ...body, id, created_at, updated_at, source: { project, file, file_hash } };
}
