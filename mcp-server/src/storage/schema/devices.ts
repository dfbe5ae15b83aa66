import { bigint, boolean, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/** The exclusive right to drive one device. An expired row is free; `fence` only ever grows. */
export const leases = pgTable(
  "leases",
  {
    device_id: text("device_id").primaryKey(),
    host_name: text("host_name").notNull(),
    session_id: text("session_id").notNull(),
    principal: text("principal").notNull(),
    client: text("client").notNull(),
    fence: bigint("fence", { mode: "number" }).notNull(),
    /** Taken by a driving call without a handle; ends 60 s after its last call. */
    implicit: boolean("implicit").notNull(),
    taken_at: instant("taken_at").notNull(),
    expires_at: instant("expires_at").notNull(),
  },
  (t) => [uniqueIndex("leases_session").on(t.session_id)],
);

/** Why a lease ended before its owner gave it back, given to the owner's next call. */
export const leaseLosses = pgTable("lease_losses", {
  session_id: text("session_id").primaryKey(),
  device_id: text("device_id").notNull(),
  taken_by: text("taken_by").notNull(),
  at: instant("at").notNull(),
});
