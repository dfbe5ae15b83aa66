import type { Params } from "../../../domain/index.ts";
import { boundsOf, numberOf } from "./makeValue.ts";
import { listOf, typeOf } from "./schemas.ts";

/** A value to try in one place. Whether the document allows it is judged by the schema, not here. */
export type Trial = { label: string; value: unknown };

const unicode = "Łódź 日本語 🙂 \u202Eright to left\u202C";
const longText = 10_000;

/** What to try in place of a sound value of this schema (one level, without references). Texts alone for what is sent in an address. */
export function trialsOf(schema: Params, sound: unknown, place: "body" | "address"): Trial[] {
  const type = typeOf(schema);
  const all = [
    ...(listOf(schema.enum).length > 0 ? [{ label: "unknown enum value", value: unknownOf(schema) }] : []),
    ...byType(type, schema, sound),
    ...(place === "body" ? [wrongType(type), { label: "null", value: null }] : wrongText(type)),
  ];
  const seen = new Set<string>([JSON.stringify(sound) ?? ""]);
  return all.filter(({ value }) => {
    const text = JSON.stringify(value) ?? "";
    return !seen.has(text) && seen.add(text);
  });
}

const unknownOf = (schema: Params): unknown =>
  listOf(schema.enum).every((choice) => typeof choice === "number") ? 987_654 : "labwright-unknown";

/** Nothing that a server might read as the right type. */
const wrongType = (type: string): Trial => ({
  label: "wrong type",
  value: type === "string" || type === "enum" ? { wrong: "type" } : "wrong type",
});

const wrongText = (type: string): Trial[] =>
  ["integer", "number", "boolean"].includes(type) ? [{ label: "wrong type", value: "wrong-type" }] : [];

function byType(type: string, schema: Params, sound: unknown): Trial[] {
  switch (type) {
    case "string":
      return listOf(schema.enum).length > 0 ? [] : texts(schema);
    case "integer":
    case "number":
      return numbers(schema, type);
    case "array":
      return lists(schema, sound);
    default:
      return [];
  }
}

function texts(schema: Params): Trial[] {
  const least = numberOf(schema.minLength) ?? 0;
  const most = numberOf(schema.maxLength);
  const isPlain = schema.pattern === undefined && schema.format === undefined;
  const of = (length: number): string => "x".repeat(Math.min(length, 100_000));
  return [
    { label: "empty text", value: "" },
    ...(least > 1 ? [{ label: "too short", value: of(least - 1) }] : []),
    ...(isPlain && least > 0 ? [{ label: "shortest", value: of(least) }] : []),
    ...(isPlain && most !== undefined ? [{ label: "longest", value: of(most) }] : []),
    most === undefined
      ? { label: "very long", value: of(longText) }
      : { label: "too long", value: of(most + 1) },
    ...(schema.pattern === undefined ? [] : [{ label: "against the pattern", value: "\u2603 ~" }]),
    ...(isPlain && (most ?? unicode.length) >= unicode.length ? [{ label: "unicode", value: unicode }] : []),
  ];
}

function numbers(schema: Params, type: string): Trial[] {
  const { least, most } = boundsOf(schema, type);
  const step = numberOf(schema.multipleOf) ?? 1;
  const at = (label: string, value: number | undefined): Trial[] =>
    value === undefined ? [] : [{ label, value }];
  return [
    ...at("least", least),
    ...at("below the least", least === undefined ? undefined : least - step),
    ...at("greatest", most),
    ...at("above the greatest", most === undefined ? undefined : most + step),
    ...at("zero", 0),
    ...at("negative", -1),
    ...at("very large", most === undefined ? Number.MAX_SAFE_INTEGER : undefined),
    ...at("a fraction", type === "integer" ? (least ?? 0) + 0.5 : undefined),
    ...at("no multiple", schema.multipleOf === undefined ? undefined : step * 1.5),
  ];
}

function lists(schema: Params, sound: unknown): Trial[] {
  const [first] = listOf(sound);
  const least = numberOf(schema.minItems) ?? 0;
  const most = numberOf(schema.maxItems);
  const of = (length: number): unknown[] => Array.from({ length: Math.min(length, 1_000) }, () => first);
  return [
    { label: "empty list", value: [] },
    ...(least > 1 ? [{ label: "too few items", value: of(least - 1) }] : []),
    ...(most !== undefined && most < 1_000 ? [{ label: "too many items", value: of(most + 1) }] : []),
    ...(schema.uniqueItems === true ? [{ label: "repeated items", value: of(2) }] : []),
  ];
}
