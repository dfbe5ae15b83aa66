import { z } from "zod";

/** `pending`: seen, not yet for long enough. `resolved`: over. */
export const alertStateSchema = z.enum(["pending", "active", "resolved"]);
export type AlertState = z.output<typeof alertStateSchema>;

export const alertTriageSchema = z.enum(["acknowledged", "discarded", "confirmed"]);
export type AlertTriage = z.output<typeof alertTriageSchema>;
