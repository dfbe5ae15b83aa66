import { ExactNumber } from "../../values/exactNumbers.ts";

/**
 * Longer strings are cut, deeper and wider values too: a page or a server decides how large an output is, a row must not.
 * `values` and `characters` are those of all lists and objects together.
 */
const limits = { text: 20_000, items: 2_000, depth: 16, values: 50_000, characters: 2_000_000 };

/**
 * A copy of `value` that a JSON column takes whatever the value is: plain data, bounded, without the characters that
 * PostgreSQL refuses in JSON (NUL and lone surrogates). What was cut says so.
 */
export function storable(value: unknown): unknown {
  return copy(value, 0, { ...limits });
}

/** {@link storable} for an object. */
export function storableObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyObject(value, 0, { ...limits });
}

/** What the rest of a value may have. */
type Left = { values: number; characters: number };

function copy(value: unknown, depth: number, left: Left): unknown {
  left.values -= 1;
  switch (typeof value) {
    case "string":
      return copyText(value, left);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
      return value;
    case "undefined":
      return null;
    case "object":
      return value === null ? null : copyAny(value, depth, left);
    default:
      return typeof value === "bigint" ? value.toString() : `[${typeof value}]`;
  }
}

function copyText(value: string, left: Left): string {
  const text = storableText(value);
  left.characters -= text.length;
  return text;
}

function copyAny(value: object, depth: number, left: Left): unknown {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof ExactNumber) return value.toJSON();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= limits.depth) return "[deeper]";
  return Array.isArray(value) ? list(value, depth, left) : copyObject(value, depth, left);
}

const isSpent = ({ values, characters }: Left) => values <= 0 || characters <= 0;

function list(items: readonly unknown[], depth: number, left: Left): unknown[] {
  const kept: unknown[] = [];
  for (const item of items.slice(0, limits.items)) {
    if (isSpent(left)) break;
    kept.push(copy(item, depth + 1, left));
  }
  const rest = items.length - kept.length;
  return rest > 0 ? [...kept, `[${rest} more]`] : kept;
}

function copyObject(value: object, depth: number, left: Left): Record<string, unknown> {
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    if (kept.length >= limits.items || isSpent(left)) break;
    kept.push([copyText(key, left), copy(item, depth + 1, left)]);
  }
  return Object.fromEntries(kept);
}

/** {@link storable} for a text, also of a text column. */
export function storableText(value: string): string {
  const cut =
    value.length > limits.text ? `${value.slice(0, limits.text)}[${value.length - limits.text} more]` : value;
  // A round trip through UTF-8 replaces lone surrogates.
  return Buffer.from(cut.replaceAll("\u0000", "\ufffd"), "utf8").toString("utf8");
}
