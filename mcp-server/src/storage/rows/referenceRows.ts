import { and, asc, count, eq, inArray, type SQL } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { everyColumn, type WithoutNulls, withoutNulls } from "../schema/columns.ts";
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
      const isMeant = and(
        eq(screenReferences.userinterface_id, userinterface_id),
        eq(screenReferences.device_model, device_model),
        eq(screenReferences.name, name),
      );
      const [row] = await db.select().from(screenReferences).where(isMeant);
      return row && withoutNulls(row);
    },

    /** By userinterface, model and name; `total` counts those that fit the filter. */
    async list(filter: ReferenceFilter, limit: number): Promise<{ found: NamedReference[]; total: number }> {
      const where = conditionOf(filter);
      const rows = await db
        .select({ row: screenReferences, userinterface: userinterfaces.name })
        .from(screenReferences)
        .innerJoin(userinterfaces, eq(screenReferences.userinterface_id, userinterfaces.id))
        .where(where)
        .orderBy(asc(userinterfaces.name), asc(screenReferences.device_model), asc(screenReferences.name))
        .limit(limit);
      const [counted] = await db.select({ total: count() }).from(screenReferences).where(where);
      const found = rows.map(({ row, userinterface }) => ({
        ...withoutNulls(row),
        userinterface_name: userinterface,
      }));
      return { found, total: counted?.total ?? 0 };
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

function conditionOf({ userinterface_id, device_model }: ReferenceFilter): SQL | undefined {
  return and(
    userinterface_id === undefined ? undefined : eq(screenReferences.userinterface_id, userinterface_id),
    device_model === undefined ? undefined : eq(screenReferences.device_model, device_model),
  );
}
