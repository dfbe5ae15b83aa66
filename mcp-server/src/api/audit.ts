import { z } from "zod";
import { ToolError } from "../errors.ts";

const instant = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

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
  const { data, error } = auditQuerySchema.safeParse(query);
  if (!error) return { ...data, ...(data.since && { since: new Date(data.since).toISOString() }) };
  throw new ToolError(
    "INVALID_INPUT",
    error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`.replace(/^: /, "")).join("; "),
    "`since` is a date such as 2026-11-27 or 2026-11-27T08:00:00Z, `limit` is 1 to 1000; `tool` and `client` are names.",
  );
}
