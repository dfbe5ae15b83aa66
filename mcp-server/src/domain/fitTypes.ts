import type { z } from "zod";
import { valueAt } from "./schemaProblems.ts";

/** A text may hold a list whose items hold texts again. */
const mostRounds = 4;
/** Per round. Each reading copies the lists around it. */
const mostReadings = 200;

/** Reads texts as the type that the schema wants, and one object as a list of one. Changes only what the schema refuses. */
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A copy of `value` with `given` at the path. Missing steps are made: an array for a number, else an object. */
export function withValue(value: unknown, [step, ...rest]: readonly PropertyKey[], given: unknown): unknown {
  if (step === undefined) return given;
  if (typeof step === "number") {
    const items: unknown[] = Array.isArray(value) ? [...value] : [];
    items[step] = withValue(items[step], rest, given);
    return items;
  }
  const fields = isObject(value) ? value : {};
  const key = String(step);
  const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return { ...fields, [key]: withValue(before, rest, given) };
}

/** A copy of `value` without the key that the path ends with. */
export function withoutKey(value: unknown, [step, ...rest]: readonly PropertyKey[]): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? withoutKey(item, rest) : item));
  if (!isObject(value)) return value;
  const key = String(step);
  if (rest.length > 0) return { ...value, [key]: withoutKey(value[key], rest) };
  const { [key]: _, ...others } = value;
  return others;
}
