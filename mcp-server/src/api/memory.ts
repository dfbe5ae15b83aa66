import { z } from "zod";
import { memoryKindSchema, memoryScopeSchema } from "../domain/index.ts";
import { readInput } from "./errors.ts";

export const memoryQuerySchema = z.strictObject({
  scope: memoryScopeSchema.optional(),
  subject: z.string().min(1).max(200).optional().describe("Name of the app or test, or id of the device."),
  kind: memoryKindSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

export const forgetQuerySchema = z
  .strictObject({
    id: z.string().min(1).max(100).optional(),
    all: z.literal("true").optional().describe("In place of an id: forgets everything."),
  })
  .refine(({ id, all }) => (id === undefined) !== (all === undefined), "give either an id or all=true");

/** Throws INVALID_INPUT. */
export const memoryQueryOf = (query: Record<string, string>) =>
  readInput(memoryQuerySchema, query, "`scope`, `subject` and `kind` choose, `limit` is 1 to 1000.");

/** What to forget; undefined for everything. Throws INVALID_INPUT. */
export const forgottenIn = (query: Record<string, string>): string | undefined =>
  readInput(forgetQuerySchema, query, "GET /api/v1/memory has the ids.").id;
