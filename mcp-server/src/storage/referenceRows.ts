import { and, asc, count, eq, inArray, type SQL } from "drizzle-orm";
import type { Area, ReferenceKind } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { screenReferences, userinterfaces } from "./schema.ts";

/** `text` is what one of kind `text` expects; `sha256` names the file of one of kind `image`. */
export type ReferenceRow = {
  id: string;
  userinterface_id: string;
  device_model: string;
  name: string;
  kind: ReferenceKind;
  area?: Area;
  text?: string;
  sha256?: string;
  created_at: string;
  updated_at: string;
};
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
        .values(valuesOf(row))
        .onConflictDoNothing()
        .returning({ id: screenReferences.id });
      return inserted.length > 0;
    },

    /** In place of the one of that name, if there is one, which gives it its id and its age. */
    async put(row: ReferenceRow): Promise<void> {
      const { id: _, createdAt: __, ...set } = valuesOf(row);
      await db
        .insert(screenReferences)
        .values(valuesOf(row))
        .onConflictDoUpdate({
          target: [screenReferences.userinterfaceId, screenReferences.deviceModel, screenReferences.name],
          set,
        });
    },

    async find({ userinterface_id, device_model, name }: ReferenceKey): Promise<ReferenceRow | undefined> {
      const isMeant = and(
        eq(screenReferences.userinterfaceId, userinterface_id),
        eq(screenReferences.deviceModel, device_model),
        eq(screenReferences.name, name),
      );
      const [row] = await db.select().from(screenReferences).where(isMeant);
      return row && toRow(row);
    },

    /** By userinterface, model and name; `total` counts those that fit the filter. */
    async list(filter: ReferenceFilter, limit: number): Promise<{ found: NamedReference[]; total: number }> {
      const where = conditionOf(filter);
      const rows = await db
        .select({ row: screenReferences, userinterface: userinterfaces.name })
        .from(screenReferences)
        .innerJoin(userinterfaces, eq(screenReferences.userinterfaceId, userinterfaces.id))
        .where(where)
        .orderBy(asc(userinterfaces.name), asc(screenReferences.deviceModel), asc(screenReferences.name))
        .limit(limit);
      const [counted] = await db.select({ total: count() }).from(screenReferences).where(where);
      const found = rows.map(({ row, userinterface }) => ({
        ...toRow(row),
        userinterface_name: userinterface,
      }));
      return { found, total: counted?.total ?? 0 };
    },

    async removeOf(userinterfaceId: string): Promise<void> {
      await db.delete(screenReferences).where(eq(screenReferences.userinterfaceId, userinterfaceId));
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
    userinterface_id === undefined ? undefined : eq(screenReferences.userinterfaceId, userinterface_id),
    device_model === undefined ? undefined : eq(screenReferences.deviceModel, device_model),
  );
}

function valuesOf(row: ReferenceRow): typeof screenReferences.$inferInsert {
  return {
    id: row.id,
    userinterfaceId: row.userinterface_id,
    deviceModel: row.device_model,
    name: row.name,
    kind: row.kind,
    area: row.area ?? null,
    text: row.text ?? null,
    sha256: row.sha256 ?? null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(row: typeof screenReferences.$inferSelect): ReferenceRow {
  return {
    id: row.id,
    userinterface_id: row.userinterfaceId,
    device_model: row.deviceModel,
    name: row.name,
    kind: row.kind,
    ...(row.area && { area: row.area }),
    ...(row.text !== null && { text: row.text }),
    ...(row.sha256 !== null && { sha256: row.sha256 }),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
