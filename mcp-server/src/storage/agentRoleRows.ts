import { and, count, eq, gt, lte, or } from "drizzle-orm";
import { agentRoles } from "./agentSchema.ts";
import type { Hold } from "./agentSessionRows.ts";
import type { Database } from "./database.ts";

export function agentRoleRows(db: Database) {
  return {
    /** False when another has it. One statement: of many who ask at once, one gets it. */
    async hold(name: string, { holder, now, until }: Hold): Promise<boolean> {
      const isFree = or(eq(agentRoles.holder, holder), lte(agentRoles.heldUntil, now));
      const rows = await db
        .insert(agentRoles)
        .values({ name, holder, heldUntil: until })
        .onConflictDoUpdate({
          target: agentRoles.name,
          set: { holder, heldUntil: until },
          ...(isFree && { setWhere: isFree }),
        })
        .returning({ name: agentRoles.name });
      return rows.length > 0;
    },

    async letGo(name: string, holder: string): Promise<void> {
      await db.delete(agentRoles).where(and(eq(agentRoles.name, name), eq(agentRoles.holder, holder)));
    },

    /** How many have a holder whose time is not over. */
    async held(now: string): Promise<number> {
      const [row] = await db.select({ held: count() }).from(agentRoles).where(gt(agentRoles.heldUntil, now));
      return row?.held ?? 0;
    },
  };
}
