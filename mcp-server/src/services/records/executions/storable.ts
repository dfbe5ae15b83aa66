import { ExactNumber } from "../../values/exactNumbers.ts";

/** Longer strings are cut, deeper and wider values too: a page or a server decides how large an output is, a row must not. */
const limits = { text: 20_000, items: 2_000, depth: 16 };

/**
 * A copy of `value` that a JSON column takes whatever the value is: plain data, bounded, without the characters that
 * PostgreSQL refuses in JSON (NUL and lone surrogates). What was cut says so.
 */
export function storable(value: unknown): unknown {
  return copy(value, 0);
}

/** {@link storable} for an object. */
export function storableObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyObject(value, 0);
}

function copy(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return storableText(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
      return value;
    case "undefined":
      return null;
    case "object":
      return value === null ? null : copyAny(value, depth);
    default:
      return typeof value === "bigint" ? value.toString() : `[${typeof value}]`;
  }
}

function copyAny(value: object, depth: number): unknown {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof ExactNumber) return value.toJSON();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= limits.depth) return "[deeper]";
  return Array.isArray(value) ? list(value, depth) : copyObject(value, depth);
}

function list(items: readonly unknown[], depth: number): unknown[] {
  const kept = items.slice(0, limits.items).map((item) => copy(item, depth + 1));
  return items.length > limits.items ? [...kept, `[${items.length - limits.items} more]`] : kept;
}

function copyObject(value: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const kept = entries
    .slice(0, limits.items)
    .map(([key, item]) => [storableText(key), copy(item, depth + 1)]);
  return Object.fromEntries(kept);
}

/** {@link storable} for a text, also of a text column. */
export function storableText(value: string): string {
  const cut =
    value.length > limits.text ? `${value.slice(0, limits.text)}[${value.length - limits.text} more]` : value;
  // A round trip through UTF-8 replaces lone surrogates.
  return Buffer.from(cut.replaceAll("\u0000", "\ufffd"), "utf8").toString("utf8");
}
