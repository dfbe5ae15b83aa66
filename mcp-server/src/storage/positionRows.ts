import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { nodes, positions } from "./schema.ts";

/** `at` is when the place was last seen to be true, or taken for it. */
export type PositionRow = {
  device_id: string;
  userinterface_id: string;
  node_id: string | undefined;
  verified: boolean;
  at: string;
};

/** Where each device is in each app. */
export function positionRows(db: Database) {
  return {
    async find(deviceId: string, userinterfaceId: string): Promise<PositionRow | undefined> {
      const isMeant = and(eq(positions.deviceId, deviceId), eq(positions.userinterfaceId, userinterfaceId));
      const [row] = await db.select().from(positions).where(isMeant);
      return (
        row && {
          device_id: row.deviceId,
          userinterface_id: row.userinterfaceId,
          node_id: row.nodeId ?? undefined,
          verified: row.verified,
          at: row.at,
        }
      );
    },
    async put(row: PositionRow): Promise<void> {
      const values = { nodeId: row.node_id ?? null, verified: row.verified, at: row.at };
      await db
        .insert(positions)
        .values({ deviceId: row.device_id, userinterfaceId: row.userinterface_id, ...values })
        .onConflictDoUpdate({ target: [positions.deviceId, positions.userinterfaceId], set: values });
    },
    /**
     * The device was driven by something else: what can be checked stays as a guess, a place without checks is unknown.
     * With `exceptIn`, the place in that userinterface stays as it is.
     */
    async doubt(deviceId: string, exceptIn?: string): Promise<void> {
      const checkable = sql`exists (select 1 from ${nodes} where ${nodes.id} = ${positions.nodeId} and jsonb_array_length(${nodes.verifications}) > 0)`;
      await db
        .update(positions)
        .set({ verified: false, nodeId: sql`case when ${checkable} then ${positions.nodeId} end` })
        .where(
          and(
            eq(positions.deviceId, deviceId),
            exceptIn === undefined ? undefined : sql`${positions.userinterfaceId} <> ${exceptIn}`,
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
        const isGone = inArray(positions.nodeId, nodeIds.slice(at, at + 1_000));
        await db.update(positions).set({ nodeId: null, verified: false }).where(isGone);
      }
    },
    async forgetApp(userinterfaceId: string): Promise<void> {
      await db.delete(positions).where(eq(positions.userinterfaceId, userinterfaceId));
    },
  };
}
