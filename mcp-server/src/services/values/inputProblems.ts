import { nearest } from "@labwright/controllers";
import { z } from "zod";
import { strictOf } from "../../domain/strictOf.ts";

/**
 * What is wrong with `value` under the strict form of `schema`, one line a problem with its path; an unknown key is
 * named with the nearest known one. A value with a placeholder in it is taken as right, since it is not filled in yet.
 */
export function inputProblems(schema: z.ZodObject, value: unknown, at: string): string[] {
  const parsed = strictOf(schema).safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues
    .filter((issue) => !isPlaceholder(valueAt(value, issue.path)))
    .map((issue) => `${pathText(at, issue.path)}: ${issueText(issue, Object.keys(schema.shape))}`);
}

function issueText(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code !== "unrecognized_keys") return issue.message;
  const hints = issue.keys.map((key) => {
    const [near] = issue.path.length === 0 ? nearest(key, known, 1) : [];
    return near ? `"${key}" (did you mean "${near}"?)` : `"${key}"`;
  });
  return `unknown argument ${hints.join(", ")}`;
}

const isPlaceholder = (value: unknown) => typeof value === "string" && /\{\{[^{}]+\}\}/.test(value);

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

function pathText(at: string, path: readonly PropertyKey[]): string {
  const tail = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return at === "" ? tail.replace(/^\./, "") || "arguments" : `${at}${tail}`;
}

/** The strict JSON of a schema, for a caller that wants to know what to give. */
export function schemaJson(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  return json;
}
