import { z } from "zod";
import { memoryKindSchema, memoryScopeSchema } from "../domain/index.ts";
import { ToolError } from "../errors.ts";

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
export function queryOf<Query>(schema: z.ZodType<Query>, query: Record<string, string>): Query {
  const { data, error } = schema.safeParse(query);
  if (!error) return data;
  throw new ToolError(
    "INVALID_INPUT",
    error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`.replace(/^: /, "")).join("; "),
    "openapi.json next to it describes what each request takes.",
  );
}
