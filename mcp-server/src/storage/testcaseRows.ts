import { asc, eq, sql } from "drizzle-orm";
import type { TestCase, TestCaseInput } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { testcases } from "./schema.ts";

export type TestcaseRows = ReturnType<typeof testcaseRows>;

/** Saved test cases. Names are unique. */
export function testcaseRows(db: Database) {
  return {
    /** Saves by name in one statement; `id` is used only when the name is new. */
    upsert: (id: string, testcase: TestCaseInput, at: string) => upsert(db, id, testcase, at),

    /** False, and nothing is changed, when the name is taken. */
    async insert(id: string, testcase: TestCaseInput, at: string): Promise<boolean> {
      const rows = await db
        .insert(testcases)
        .values({ id, ...columnsOf(testcase, at), created_at: at })
        .onConflictDoNothing({ target: testcases.name })
        .returning({ id: testcases.id });
      return rows.length > 0;
    },

    async findById(id: string): Promise<TestCase | undefined> {
      const [row] = await db.select().from(testcases).where(eq(testcases.id, id));
      return row && toTestcase(row);
    },

    async findByName(name: string): Promise<TestCase | undefined> {
      const [row] = await db.select().from(testcases).where(eq(testcases.name, name));
      return row && toTestcase(row);
    },

    /** By name, in byte order whatever the database's collation. */
    async list(userinterface?: string): Promise<TestCase[]> {
      const rows = await db
        .select()
        .from(testcases)
        .where(userinterface === undefined ? undefined : eq(testcases.userinterface_name, userinterface))
        .orderBy(asc(sql`${testcases.name} collate "C"`));
      return rows.map(toTestcase);
    },

    async names(): Promise<string[]> {
      const rows = await db.select({ name: testcases.name }).from(testcases);
      return rows.map(({ name }) => name);
    },

    /** Renames and, in the same transaction, saves what calls it under its new name. */
    async rename(
      id: string,
      renamed: TestCaseInput,
      callers: readonly TestCaseInput[],
      at: string,
    ): Promise<void> {
      await db.transaction(async (tx) => {
        await tx
          .update(testcases)
          .set({ name: renamed.name, body: renamed, updated_at: at })
          .where(eq(testcases.id, id));
        for (const caller of callers) {
          await tx
            .update(testcases)
            .set({ body: caller, updated_at: at })
            .where(eq(testcases.name, caller.name));
        }
      });
    },

    /** Saves a list by name, all or none; an `id` is used only when its name is new. */
    async upsertAll(list: readonly { id: string; testcase: TestCaseInput }[], at: string): Promise<void> {
      await db.transaction(async (tx) => {
        for (const { id, testcase } of list) await upsert(tx, id, testcase, at);
      });
    },

    async remove(id: string): Promise<boolean> {
      const rows = await db.delete(testcases).where(eq(testcases.id, id)).returning({ id: testcases.id });
      return rows.length > 0;
    },
  };
}

async function upsert(db: Database, id: string, testcase: TestCaseInput, at: string) {
  const { name, ...changed } = columnsOf(testcase, at);
  const [row] = await db
    .insert(testcases)
    .values({ id, name, created_at: at, ...changed })
    .onConflictDoUpdate({ target: testcases.name, set: changed })
    .returning({ id: testcases.id });
  return { id: row?.id ?? id, created: row?.id === id };
}

const columnsOf = (testcase: TestCaseInput, at: string) => ({
  name: testcase.name,
  userinterface_name: testcase.userinterface_name ?? null,
  body: testcase,
  updated_at: at,
});

function toTestcase(row: typeof testcases.$inferSelect): TestCase {
  const { body, id, created_at, updated_at } = row;
  return { ...body, id, created_at, updated_at };
}
