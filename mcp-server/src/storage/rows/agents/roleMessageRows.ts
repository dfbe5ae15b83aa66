import { and, asc, eq, gt, lt } from "drizzle-orm";
import type { Database } from "../../engine/database.ts";
import { roleMessages } from "../../schema/agents.ts";

/** A message between roles as it is stored. `seq` grows with the order in which they came. */
export type RoleMessage = typeof roleMessages.$inferSelect;
export type NewRoleMessage = Omit<RoleMessage, "seq">;
export type RoleMessageQuery = { correlation_id: string; owner: string; after: number; limit: number };

export const roleMessageRows = (db: Database) => ({
  /** A message that is there already stays as it is. */
  async insert(message: NewRoleMessage): Promise<void> {
    await db.insert(roleMessages).values(message).onConflictDoNothing({ target: roleMessages.message_id });
  },

  /** In the order in which they came. */
  list({ correlation_id, owner, after, limit }: RoleMessageQuery): Promise<RoleMessage[]> {
    const isOfOwner = and(eq(roleMessages.correlation_id, correlation_id), eq(roleMessages.owner, owner));
    return db
      .select()
      .from(roleMessages)
      .where(and(isOfOwner, gt(roleMessages.seq, after)))
      .orderBy(asc(roleMessages.seq))
      .limit(limit);
  },

  /** Forgets messages that were stored before an instant. */
  async purge(before: string): Promise<void> {
    await db.delete(roleMessages).where(lt(roleMessages.at, before));
  },
});
