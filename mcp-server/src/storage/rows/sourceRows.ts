import { and, eq, isNull, sql } from "drizzle-orm";
import type { Source } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { testcases, userinterfaces } from "../schema/index.ts";

/** What is in no file any more is archived. */
export const isPresent = (table: typeof userinterfaces | typeof testcases) => isNull(table.archived_at);

/** Until the transaction ends, no other writes this file: each sees what the one before stored. */
export async function holdFile(
  tx: Database,
  { project, file }: Pick<Source, "project" | "file">,
): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`${project}\n${file}`}, 0))`);
}

/** Where the rows of a table come from. */
export function sourceRows(db: Database, table: typeof userinterfaces | typeof testcases) {
  const set = (values: Partial<Source> & { archived_at?: string }) =>
    table === userinterfaces
      ? db.update(userinterfaces).set(values).$dynamic()
      : db.update(testcases).set(values).$dynamic();
  return {
    async setSource(id: string, source: Source): Promise<void> {
      await set(source).where(eq(table.id, id));
    },
    /** Says what a file is now, of all that it holds. */
    async setHash({ project, file, file_hash }: Source): Promise<void> {
      if (file !== null)
        await set({ file_hash }).where(and(eq(table.project, project), eq(table.file, file)));
    },
    async archive(id: string, at: string): Promise<void> {
      await set({ archived_at: at }).where(eq(table.id, id));
    },
  };
}
