import { z } from "zod";
import { queryOf } from "./memory.ts";

const instant = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  "must be a date such as 2026-11-27 or 2026-11-27T08:00:00Z",
);

export const auditQuerySchema = z.strictObject({
  tool: z.string().min(1).max(128).optional(),
  client: z.string().min(1).max(200).optional().describe("How a client's name begins."),
  since: instant.optional().describe("ISO 8601; a date begins at midnight UTC."),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});
/** `since` is ISO 8601 UTC. */
export type AuditQuery = z.output<typeof auditQuerySchema>;

/** Throws INVALID_INPUT. */
export function auditQueryOf(query: Record<string, string>): AuditQuery {
  const { since, ...filter } = queryOf(auditQuerySchema, query);
  return { ...filter, ...(since && { since: new Date(since).toISOString() }) };
}
