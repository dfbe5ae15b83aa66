import { and, desc, gt, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../engine/database.ts";
import { hasValues, type WithoutNulls, withoutNulls } from "../../schema/columns.ts";
import { memories } from "../../schema/index.ts";

/** What earlier executions showed of an app, a device or a test; times are ISO 8601 UTC. */
export type Memory = WithoutNulls<typeof memories.$inferSelect>;
export type MemoryFilter = {
  [Key in "id" | "scope" | "subject" | "kind"]?: Memory[Key] | undefined;
} & { limit: number };
export type MemorySubject = Pick<Memory, "scope" | "subject">;
export type MemoryRows = ReturnType<typeof memoryRows>;

/** A failure that was seen once is not a pattern. */
const fewestFailures = 2;

/** Expired rows are not found. Lists begin with the most certain, then the newest. */
export function memoryRows(db: Database) {
  async function find(where: SQL | undefined, now: string, limit: number): Promise<Memory[]> {
    const rows = await db
      .select()
      .from(memories)
      .where(and(gt(memories.expires_at, now), where))
      .orderBy(desc(memories.confidence), desc(memories.at), memories.id)
      .limit(limit);
    return rows.map(withoutNulls);
  }

  return {
    /** A further execution that shows the same counts, and makes it more certain by the rule of succession. */
    async put(memory: Omit<Memory, "seen">): Promise<void> {
      const { id: _, ...values } = memory;
      const isSame = sql`${memories.execution_id} = excluded.execution_id`;
      const more = sql`greatest(excluded.confidence, (${memories.seen} + 2.0) / (${memories.seen} + 3))`;
      await db
        .insert(memories)
        .values({ ...memory, seen: 1 })
        .onConflictDoUpdate({
          target: memories.id,
          set: {
            ...values,
            seen: sql`case when ${isSame} then ${memories.seen} else ${memories.seen} + 1 end`,
            confidence: sql`case when ${isSame} then excluded.confidence else ${more} end`,
          },
        });
    },

    list({ limit, ...values }: MemoryFilter, now: string): Promise<Memory[]> {
      return find(hasValues(memories, values), now, limit);
    },

    /** What is worth knowing of these: failures only once they came again. */
    about(subjects: readonly MemorySubject[], now: string, limit: number): Promise<Memory[]> {
      const isPattern = sql`(${memories.kind} <> 'failure' or ${memories.seen} >= ${fewestFailures})`;
      return find(and(isPattern, or(...subjects.map((one) => hasValues(memories, one)))), now, limit);
    },

    /** How many there were. Without ids: all. */
    async forget(ids?: readonly string[]): Promise<number> {
      const gone = db.delete(memories).where(ids && inArray(memories.id, [...ids]));
      return (await gone.returning({ id: memories.id })).length;
    },

    async purge(now: string): Promise<void> {
      await db.delete(memories).where(lte(memories.expires_at, now));
    },
  };
}
