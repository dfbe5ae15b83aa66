import { and, eq, isNull, lt, placeholder, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { idempotency } from "./schema.ts";

export type IdempotencyKey = { principal: string; key: string };
/** A call that was begun with a key. `result` is null until it ended. */
export type IdempotencyRow = { tool: string; input_hash: string; result: unknown };
export type IdempotencyRows = ReturnType<typeof idempotencyRows>;

export function idempotencyRows(db: Database) {
  const isKey = ({ principal, key }: IdempotencyKey) =>
    and(eq(idempotency.principal, principal), eq(idempotency.key, key));

  async function find(key: IdempotencyKey): Promise<IdempotencyRow | undefined> {
    const [row] = await db.select().from(idempotency).where(isKey(key));
    return row && { tool: row.tool, input_hash: row.inputHash, result: row.result };
  }

  const begin = db
    .insert(idempotency)
    .values({
      principal: placeholder("principal"),
      key: placeholder("key"),
      tool: placeholder("tool"),
      inputHash: placeholder("input_hash"),
      at: placeholder("at"),
    })
    .onConflictDoNothing()
    .returning({ key: idempotency.key })
    .prepare("begin_idempotent_call");
  const finish = db
    .update(idempotency)
    .set({ result: sql`${placeholder("result")}::jsonb` })
    .where(
      and(
        eq(idempotency.principal, placeholder("principal")),
        eq(idempotency.key, placeholder("key")),
        isNull(idempotency.result),
      ),
    )
    .prepare("finish_idempotent_call");

  return {
    find,

    /** Stores the beginning and returns undefined; or returns what is stored under the key already. One of many wins. */
    async begin(
      key: IdempotencyKey,
      row: { tool: string; input_hash: string; at: string },
    ): Promise<IdempotencyRow | undefined> {
      const begun = await begin.execute({ ...key, ...row });
      return begun.length > 0 ? undefined : find(key);
    },

    /** The first end stands. */
    async finish(key: IdempotencyKey, result: unknown): Promise<void> {
      await finish.execute({ ...key, result: JSON.stringify(result) });
    },

    /** Forgets keys that were begun before an instant. */
    async purge(before: string): Promise<void> {
      await db.delete(idempotency).where(lt(idempotency.at, before));
    },
  };
}
