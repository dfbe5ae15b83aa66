import { asc, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { everyColumn, hasValues, type WithoutNulls, withoutNulls } from "../schema/columns.ts";
import { screenReferences, userinterfaces } from "../schema/index.ts";

/** `text` is what one of kind `text` expects; `sha256` names the file of one of kind `image`. */
export type ReferenceRow = WithoutNulls<typeof screenReferences.$inferSelect>;
export type ReferenceKey = Pick<ReferenceRow, "userinterface_id" | "device_model" | "name">;
export type ReferenceFilter = { userinterface_id?: string | undefined; device_model?: string | undefined };
export type NamedReference = ReferenceRow & { userinterface_name: string };
export type ReferenceRows = ReturnType<typeof referenceRows>;

/** Named crops and texts of screens. They go with their userinterface. */
export function referenceRows(db: Database) {
  return {
    /** False when there is one of that name, which stays as it is. */
    async insert(row: ReferenceRow): Promise<boolean> {
      const inserted = await db
        .insert(screenReferences)
        .values(row)
        .onConflictDoNothing()
        .returning({ id: screenReferences.id });
      return inserted.length > 0;
    },

    /** In place of the one of that name, if there is one, which gives it its id and its age. */
    async put(row: ReferenceRow): Promise<void> {
      const { id: _, created_at: __, ...set } = everyColumn(screenReferences, row);
      await db
        .insert(screenReferences)
        .values(row)
        .onConflictDoUpdate({
          target: [screenReferences.userinterface_id, screenReferences.device_model, screenReferences.name],
          set,
        });
    },

    async find({ userinterface_id, device_model, name }: ReferenceKey): Promise<ReferenceRow | undefined> {
      const isWanted = hasValues(screenReferences, { userinterface_id, device_model, name });
      const [row] = await db.select().from(screenReferences).where(isWanted);
      return row && withoutNulls(row);
    },

    /** By userinterface, model and name; `total` counts those that fit the filter. */
    async list(filter: ReferenceFilter, limit: number): Promise<{ found: NamedReference[]; total: number }> {
      const rows = await db
        .select({
          row: screenReferences,
          userinterface_name: userinterfaces.name,
          total: sql`count(*) over ()`.mapWith(Number),
        })
        .from(screenReferences)
        .innerJoin(userinterfaces, eq(screenReferences.userinterface_id, userinterfaces.id))
        .where(hasValues(screenReferences, filter))
        .orderBy(asc(userinterfaces.name), asc(screenReferences.device_model), asc(screenReferences.name))
        .limit(limit);
      const found = rows.map(({ row, userinterface_name }) => ({ ...withoutNulls(row), userinterface_name }));
      return { found, total: rows[0]?.total ?? 0 };
    },

    async removeOf(userinterfaceId: string): Promise<void> {
      await db.delete(screenReferences).where(eq(screenReferences.userinterface_id, userinterfaceId));
    },

    /** Those of the files that a reference names. */
    async used(sha256: readonly string[]): Promise<Set<string>> {
      if (sha256.length === 0) return new Set();
      const rows = await db
        .selectDistinct({ sha256: screenReferences.sha256 })
        .from(screenReferences)
        .where(inArray(screenReferences.sha256, [...sha256]));
      return new Set(rows.flatMap((row) => row.sha256 ?? []));
    },
  };
}
