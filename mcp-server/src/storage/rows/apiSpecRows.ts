import { and, asc, eq, getTableColumns, or } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { apiSpecs } from "../schema/index.ts";

export type ApiSpecRow = typeof apiSpecs.$inferSelect;
export type ApiSpecHead = Omit<ApiSpecRow, "spec">;
export type ApiSpecRows = ReturnType<typeof apiSpecRows>;

/** Imported OpenAPI documents. A name is unique in its project. */
export function apiSpecRows(db: Database) {
  const { spec: _, ...head } = getTableColumns(apiSpecs);
  return {
    /** Every one that has this name or id, of all projects, without their operations. */
    named: (ref: string): Promise<ApiSpecHead[]> =>
      db
        .select(head)
        .from(apiSpecs)
        .where(or(eq(apiSpecs.name, ref), eq(apiSpecs.id, ref))),

    list: (): Promise<ApiSpecHead[]> => db.select(head).from(apiSpecs).orderBy(asc(apiSpecs.name)),

    async load(id: string): Promise<ApiSpecRow | undefined> {
      const [row] = await db.select().from(apiSpecs).where(eq(apiSpecs.id, id));
      return row;
    },

    /**
     * Replaces the one of that name in its project, which it returns; id and age stay. A different document is replaced only if
     * `replace` is true.
     */
    put: (row: ApiSpecRow, { replace }: { replace: boolean }): Promise<ApiSpecRow | undefined> =>
      db.transaction(async (tx) => {
        // Waits for another import of the name, so that each sees what it replaces.
        const inserted = await tx
          .insert(apiSpecs)
          .values(row)
          .onConflictDoNothing()
          .returning({ id: apiSpecs.id });
        if (inserted.length > 0) return undefined;
        const { id: __, created_at: ___, ...set } = row;
        const isSame = and(eq(apiSpecs.name, row.name), eq(apiSpecs.project, row.project));
        const [before] = await tx.select().from(apiSpecs).where(isSame).for("update");
        if (replace || before?.document_hash === row.document_hash)
          await tx.update(apiSpecs).set(set).where(isSame);
        return before;
      }),
  };
}
