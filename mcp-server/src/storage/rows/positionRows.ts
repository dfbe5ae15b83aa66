import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { nodes, positions } from "../schema/index.ts";

/** `at` is when the place was last seen to be true, or taken for it. */
export type PositionRow = Omit<typeof positions.$inferSelect, "node_id"> & { node_id: string | undefined };

/** Where each device is in each app. */
export function positionRows(db: Database) {
  return {
    async find(deviceId: string, userinterfaceId: string): Promise<PositionRow | undefined> {
      const isMeant = and(eq(positions.device_id, deviceId), eq(positions.userinterface_id, userinterfaceId));
      const [row] = await db.select().from(positions).where(isMeant);
      return row && { ...row, node_id: row.node_id ?? undefined };
    },
    async put(row: PositionRow): Promise<void> {
      const { verified, at } = row;
      const node_id = row.node_id ?? null;
      await db
        .insert(positions)
        .values(row)
        .onConflictDoUpdate({
          target: [positions.device_id, positions.userinterface_id],
          set: { node_id, verified, at },
        });
    },
    /**
     * The device was driven by something else: what can be checked stays as a guess, a place without checks is unknown.
     * With `exceptIn`, the place in that userinterface stays as it is.
     */
    async doubt(deviceId: string, exceptIn?: string): Promise<void> {
      const checkable = sql`exists (select 1 from ${nodes} where ${nodes.id} = ${positions.node_id} and jsonb_array_length(${nodes.verifications}) > 0)`;
      await db
        .update(positions)
        .set({ verified: false, node_id: sql`case when ${checkable} then ${positions.node_id} end` })
        .where(
          and(
            eq(positions.device_id, deviceId),
            exceptIn === undefined ? undefined : sql`${positions.userinterface_id} <> ${exceptIn}`,
          ),
        );
    },
    /** Says whether a node has checks, so that a guess of being there can be confirmed. */
    async isCheckable(nodeId: string): Promise<boolean> {
      const [row] = await db.select({ checks: nodes.verifications }).from(nodes).where(eq(nodes.id, nodeId));
      return (row?.checks.length ?? 0) > 0;
    },
    /** No device is at a node that is gone. */
    async leaveNodes(nodeIds: readonly string[]): Promise<void> {
      for (let at = 0; at < nodeIds.length; at += 1_000) {
        const isGone = inArray(positions.node_id, nodeIds.slice(at, at + 1_000));
        await db.update(positions).set({ node_id: null, verified: false }).where(isGone);
      }
    },
    async forgetApp(userinterfaceId: string): Promise<void> {
      await db.delete(positions).where(eq(positions.userinterface_id, userinterfaceId));
    },
  };
}
