import type { z } from "zod";

const strictForms = new WeakMap<z.ZodObject, z.ZodObject>();

/** The form of `schema` that refuses unknown keys. Zod compiles a form when it first parses, so each is made once. */
export function strictOf(schema: z.ZodObject): z.ZodObject {
  const known = strictForms.get(schema);
  if (known) return known;
  const strict = schema.strict();
  strictForms.set(schema, strict);
  return strict;
}
