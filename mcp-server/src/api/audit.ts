import { z } from "zod";
import { readInput } from "./errors.ts";

const instant = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

export const auditQuerySchema = z.strictObject({
  tool: z.string().min(1).max(128).optional(),
  client: z.string().min(1).max(200).optional().describe("How a client's name begins."),
  since: instant.optional().describe("ISO 8601; a date begins at midnight UTC."),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});
/** `since` is ISO 8601 UTC. */
export type AuditQuery = z.output<typeof auditQuerySchema>;

const auditHint =
  "`since` is a date such as 2026-11-27 or 2026-11-27T08:00:00Z, `limit` is 1 to 1000; `tool` and `client` are names.";

/** Throws INVALID_INPUT. */
export function auditQueryOf(query: Record<string, string>): AuditQuery {
  const { since, ...filter } = readInput(auditQuerySchema, query, auditHint);
  return { ...filter, ...(since && { since: new Date(since).toISOString() }) };
}
