import { z } from "zod";
import { fitTypes } from "../../domain/fitTypes.ts";
import { type Params, paramsSchema } from "../../domain/index.ts";
import { pathText, schemaProblems, valueAt } from "../../domain/schemaProblems.ts";
import { strictOf } from "../../domain/strictOf.ts";

/**
 * What is wrong with `value` under the strict form of `schema`, one line a problem with its path; an unknown key is
 * named with the nearest known one. A value with a placeholder in it is taken as right, since it is not filled in yet.
 */
export function inputProblems(schema: z.ZodObject, value: unknown, at: string): string[] {
  const parsed = strictOf(schema).safeParse(value);
  if (parsed.success) return [];
  return schemaProblems(parsed.error.issues, schema)
    .filter(({ path }) => !isPlaceholder(valueAt(value, path)))
    .map(
      ({ path, message }) =>
        `${pathText([at, ...path].filter((part) => part !== "")) || "arguments"}: ${message}`,
    );
}

/**
 * The parameters with numbers, booleans and JSON read from text, where the schema does not take text. For what an author wrote,
 * before placeholders are filled: JSON can spell a secret's placeholder so that it is not seen in data from outside.
 */
export const fittingParams = (schema: z.ZodObject, params: Params): Params =>
  paramsSchema.parse(fitTypes(strictOf(schema), params));

const isPlaceholder = (value: unknown) => typeof value === "string" && /\{\{[^{}]+\}\}/.test(value);

/** The strict JSON of a schema, for a caller that wants to know what to give. */
export function schemaJson(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  return json;
}
