import type { Params } from "../../../domain/index.ts";
import { isObject } from "../apis/spec/reader.ts";

const refPrefix = "#/$defs/";

const alternatives: ReadonlySet<string> = new Set(["oneOf", "anyOf"]);
/** The formats of JSON Schema that a reader relies on. */
const formats = /^(date-time|date|time|duration|email|hostname|ipv[46]|uri|uuid|json-pointer)$/;

/**
 * What a value must break before it is called wrong. Several alternatives of a `oneOf` may hold, whatever a discriminator
 * names: documents often have alternatives that overlap. JSON Schema leaves it to each program whether it judges formats:
 * replies must keep the usual ones, requests need not.
 */
export function lenient(schema: unknown, use: "request" | "response"): unknown {
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit);
    if (!isObject(part)) return part;
    const { oneOf, ...rest } = part;
    const isFree = Array.isArray(oneOf) && rest.anyOf === undefined;
    const own: Params = isFree ? { ...rest, anyOf: oneOf } : part;
    return Object.fromEntries(
      Object.entries(own)
        .filter(
          ([key, value]) =>
            key !== "format" || typeof value !== "string" || (use === "response" && formats.test(value)),
        )
        .map(([key, value]) => [
          key,
          alternatives.has(key) && Array.isArray(value) ? value.map(unnamed).map(visit) : visit(value),
        ]),
    );
  };
  return visit(schema);
}

/** An alternative without the name that a discriminator gives it (`apis/spec/schemas.ts`). */
function unnamed(alternative: unknown): unknown {
  const parts =
    isObject(alternative) && Object.keys(alternative).length === 1 ? listOf(alternative.allOf) : [];
  const [name, own] = parts;
  if (parts.length !== 2 || !isObject(name) || !isObject(own) || typeof own.$ref !== "string")
    return alternative;
  const [only, ...others] = Object.values(isObject(name.properties) ? name.properties : {});
  return others.length === 0 && isObject(only) && Array.isArray(only.enum) ? own : alternative;
}

const deepest = 12;

/**
 * One level of a schema without references and without choices: `allOf` is merged, of `oneOf` and `anyOf` the first that is
 * not null counts. `root` holds the definitions.
 */
export function flat(schema: unknown, root: unknown, depth = 0): Params {
  if (!isObject(schema) || depth > deepest) return {};
  const { $ref: ref, allOf, oneOf, anyOf, ...own } = schema;
  const parts: unknown[] = [];
  if (typeof ref === "string" && ref.startsWith(refPrefix) && isObject(root))
    parts.push(Reflect.get(Object(root.$defs), ref.slice(refPrefix.length)));
  if (Array.isArray(allOf)) parts.push(...allOf);
  for (const choices of [oneOf, anyOf])
    if (Array.isArray(choices)) parts.push(choices.find(isUsable) ?? choices[0]);
  return parts.map((part) => flat(part, root, depth + 1)).reduce(merged, own);
}

const isUsable = (choice: unknown): boolean => isObject(choice) && choice.type !== "null";

function merged(one: Params, other: Params): Params {
  const properties = { ...Object(other.properties), ...Object(one.properties) };
  const required = [...new Set([...listOf(one.required), ...listOf(other.required)])];
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The type that a value is made of: the first of several that is not null, else what its keywords belong to. */
export function typeOf(schema: Params): string {
  const named = listOf(schema.type).find((type) => type !== "null") ?? schema.type;
  if (typeof named === "string") return named;
  if (isObject(schema.properties)) return "object";
  if (schema.items !== undefined) return "array";
  if (schema.minimum !== undefined || schema.maximum !== undefined) return "number";
  return schema.enum === undefined && schema.const === undefined ? "string" : "enum";
}

export const isRequired = (schema: Params, name: string): boolean => listOf(schema.required).includes(name);
