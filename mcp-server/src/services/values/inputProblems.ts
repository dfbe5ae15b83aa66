import { z } from "zod";
import { fitTypes } from "../../domain/fitTypes.ts";
import { type Params, paramsSchema } from "../../domain/index.ts";
import { pathText, schemaProblems, valueAt } from "../../domain/schemaProblems.ts";
import { strictOf } from "../../domain/strictOf.ts";

/** One line a problem, with its path and the nearest known key. A value with a placeholder is taken as right. */
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

export function schemaJson(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  return json;
}
