import type { ActionResult } from "./types.ts";

/** `value`: what conditions see as `result`. `gaps`: why parts of it are left out. */
type Shaped = { value: unknown; gaps: string[] };

/**
 * A result as conditions read it. A list gives `count` and `rows`; a list of one row also `row`, and its columns directly, such as
 * `result.is_active`. An object is itself; anything else is `{value}`.
 */
export function shapeResult(result: Exclude<ActionResult, { error: unknown }>): Shaped {
  if (!("parts" in result)) return shapeValue(result.value);
  const parts = Object.entries(result.parts).map(([name, part]) => {
    if ("error" in part) return { name, gaps: [`${name} failed: ${part.error.message}`] };
    const { value, gaps } = shapeValue(part.value);
    return { name, value, gaps: gaps.map((gap) => `${name}: ${gap}`) };
  });
  const given = parts.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { value: Object.fromEntries(given), gaps: parts.flatMap(({ gaps }) => gaps) };
}

function shapeValue(value: unknown): Shaped {
  if (Array.isArray(value)) return shapeRows(value);
  if (typeof value === "object" && value !== null) return { value, gaps: [] };
  return { value: { value: value ?? null }, gaps: [] };
}

function shapeRows(rows: readonly unknown[]): Shaped {
  const shape = { count: rows.length, rows };
  const [row] = rows;
  if (rows.length !== 1 || typeof row !== "object" || row === null) return { value: shape, gaps: [] };
  const taken = ["count", "rows", "row"].filter((name) => Object.hasOwn(row, name));
  const value = Object.fromEntries(
    Object.entries({ ...row, ...shape, row }).filter(([name]) => !taken.includes(name)),
  );
  // Both readings are likely, so neither is guessed.
  const gaps = taken.map(
    (name) => `${name} is also a column: write result.rows[0].${name}, or give the column another name`,
  );
  return { value, gaps };
}

const mostRows = 5;
const mostLetters = 500;

/** A value cut to what a person reads. */
export function sampleOf(value: unknown, depth = 0): unknown {
  if (depth > 6) return "…";
  if (typeof value === "string")
    return value.length > mostLetters ? `${value.slice(0, mostLetters)} …` : value;
  if (Array.isArray(value)) return value.slice(0, mostRows).map((item) => sampleOf(item, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  // The columns of a single row are there once.
  const isRows = Object.hasOwn(value, "rows");
  const entries = Object.entries(value).filter(([name]) => !isRows || name === "count" || name === "rows");
  return Object.fromEntries(entries.slice(0, 30).map(([name, item]) => [name, sampleOf(item, depth + 1)]));
}
