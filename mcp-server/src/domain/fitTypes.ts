import type { z } from "zod";
import { withValue } from "./changedAt.ts";
import { valueAt } from "./schemaProblems.ts";

/** A text may hold a list whose items hold texts again; nobody wraps deeper. */
const mostRounds = 4;
/** In a round. Each reading copies the lists that it stands in, and no valid call needs as many. */
const mostReadings = 200;

/**
 * The value with texts read as the type that the schema wants: "5" as a number, "true" as a boolean, JSON as an array or an
 * object. One object where a list is wanted becomes a list of one. Only what the schema refuses changes, so a valid value keeps
 * its meaning.
 */
export function fitTypes(schema: z.ZodType, value: unknown): unknown {
  let fitted = value;
  for (let round = 0; round < mostRounds; round++) {
    const before = fitted;
    const issues = schema.safeParse(fitted).error?.issues ?? [];
    for (const issue of issues.slice(0, mostReadings)) {
      if (issue.code !== "invalid_type") continue;
      const read = readAs(issue.expected, valueAt(fitted, issue.path));
      if (read !== undefined) fitted = withValue(fitted, issue.path, read);
    }
    if (fitted === before) break;
  }
  return fitted;
}

/** Undefined where the value does not say what is expected. */
function readAs(expected: string, value: unknown): unknown {
  if (expected === "array") return isObject(value) ? [value] : listIn(value);
  return typeof value === "string" ? readers[expected]?.(value) : undefined;
}

const numberIn = (text: string): number | undefined =>
  /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
const objectIn = (text: string): object | undefined => {
  const json = jsonIn(text);
  return isObject(json) ? json : undefined;
};
const booleans: Readonly<Record<string, boolean>> = { true: true, false: false };

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  boolean: (text) => (Object.hasOwn(booleans, text) ? booleans[text] : undefined),
  int: numberIn,
  number: numberIn,
  object: objectIn,
  record: objectIn,
};

function listIn(value: unknown): unknown[] | undefined {
  const json = typeof value === "string" ? jsonIn(value) : undefined;
  if (Array.isArray(json)) return json;
  return isObject(json) ? [json] : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
