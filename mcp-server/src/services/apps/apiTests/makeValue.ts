import { createHash } from "node:crypto";
import fc from "fast-check";
import type { Params } from "../../../domain/index.ts";
import { isObject } from "../apis/spec/reader.ts";
import { flat, isRequired, listOf, typeOf } from "./schemas.ts";

/** `variant` 0 is as the document's examples are; each other one has texts of its own, so that it can be created next to them. */
export type Making = { root: unknown; seed: number; variant: number; only?: "required" };

/** Optional properties and items stand down to this level; a schema may contain itself. */
const deepestOptional = 3;
const deepest = 10;

/** A value as the schema asks for, the same for the same making. Deeper than ten levels it is null. */
export function makeValue(schema: unknown, making: Making, name = "value", depth = 0): unknown {
  if (depth > deepest) return null;
  const own = flat(schema, making.root);
  const example = own.const ?? listOf(own.examples)[0] ?? own.example ?? own.default;
  if (own.const !== undefined) return own.const;
  const choices = listOf(own.enum).filter((choice) => choice !== null);
  if (choices.length > 0) return choices[making.variant % choices.length];
  const type = typeOf(own);
  // An example of an object names what is read-only, too.
  if (example !== undefined && type !== "object" && type !== "array")
    return making.variant > 0 && type === "string" ? varied(example, own, making) : example;
  switch (type) {
    case "object":
      return makeObject(own, making, depth);
    case "array":
      return makeList(own, making, name, depth);
    case "integer":
    case "number":
      return makeNumber(own, type, making);
    case "boolean":
      return making.variant % 2 === 0;
    default:
      return makeText(own, making, name);
  }
}

function makeObject(schema: Params, making: Making, depth: number): Params {
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const isFull = making.only !== "required" && depth < deepestOptional;
  const shown = properties.filter(
    ([name, part]) => (isFull || isRequired(schema, name)) && flat(part, making.root).readOnly !== true,
  );
  const missing = listOf(schema.required).filter((name) => !properties.some(([known]) => known === name));
  const known = shown.map(([name, part]) => [name, makeValue(part, making, name, depth + 1)]);
  return Object.fromEntries([...known, ...missing.map((name) => [name, textOf(making, String(name))])]);
}

function makeList(schema: Params, making: Making, name: string, depth: number): unknown[] {
  const least = numberOf(schema.minItems) ?? 0;
  const wanted = Math.min(
    depth < deepestOptional ? Math.max(least, 1) : least,
    numberOf(schema.maxItems) ?? 1_000,
  );
  return Array.from({ length: Math.min(wanted, 50) }, (_, at) =>
    makeValue(schema.items, { ...making, variant: making.variant + at }, name, depth + 1),
  );
}

export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" ? value : undefined;

/** The least and the greatest number that a schema allows, whole ones for an integer. */
export function boundsOf(schema: Params, type: string): { least?: number; most?: number } {
  const step = type === "integer" ? 1 : 0.01;
  const above = numberOf(schema.exclusiveMinimum);
  const below = numberOf(schema.exclusiveMaximum);
  const least = numberOf(schema.minimum) ?? (above === undefined ? undefined : above + step);
  const most = numberOf(schema.maximum) ?? (below === undefined ? undefined : below - step);
  return { ...(least !== undefined && { least }), ...(most !== undefined && { most }) };
}

function makeNumber(schema: Params, type: string, { variant }: Making): number {
  const { least, most } = boundsOf(schema, type);
  const step = numberOf(schema.multipleOf) ?? 1;
  // Not at a bound, which is tried by itself.
  const start = least === undefined ? Math.min(1, (most ?? 2) - 1) : least + 1;
  const first = Math.ceil(start / step) * step;
  const value = first + step * variant;
  if (most === undefined || value <= most) return value;
  return first <= most ? first : Math.floor(most / step) * step;
}

/** Unlike what other runs made. */
const tagOf = ({ seed, variant }: Making): string =>
  `${seed.toString(36)}${variant > 0 ? `-${variant}` : ""}`;
const textOf = (making: Making, name: string): string => `${name} ${tagOf(making)}`;

function varied(example: unknown, schema: Params, making: Making): unknown {
  if (typeof example !== "string" || schema.pattern !== undefined) return example;
  if (schema.format === "email") return example.replace("@", `.${tagOf(making)}@`);
  if (schema.format === "uuid") return uuidOf(making, example);
  if (schema.format !== undefined) return example;
  const text = `${example} ${tagOf(making)}`;
  return text.length <= (numberOf(schema.maxLength) ?? text.length) ? text : example;
}

function uuidOf(making: Making, name: string): string {
  const hex = createHash("sha256")
    .update(`${name} ${tagOf(making)}`)
    .digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const formats: Readonly<Record<string, (making: Making, name: string) => string>> = {
  "date-time": ({ variant }) => `2026-01-15T10:30:${String(variant % 60).padStart(2, "0")}Z`,
  date: ({ variant }) => `2026-01-${String(1 + (variant % 28)).padStart(2, "0")}`,
  time: () => "10:30:00Z",
  duration: () => "PT1H",
  email: (making) => `lw.${tagOf(making)}@example.com`,
  "idn-email": (making) => `lw.${tagOf(making)}@example.com`,
  uuid: uuidOf,
  uri: (making) => `https://example.com/${tagOf(making)}`,
  url: (making) => `https://example.com/${tagOf(making)}`,
  "uri-reference": (making) => `/${tagOf(making)}`,
  hostname: () => "example.com",
  ipv4: () => "192.0.2.1",
  ipv6: () => "2001:db8::1",
  byte: (making) => Buffer.from(tagOf(making)).toString("base64"),
  "json-pointer": () => "/a",
  regex: () => "a+",
};

function makeText(schema: Params, making: Making, name: string): string {
  const { pattern, format } = schema;
  const least = numberOf(schema.minLength) ?? 0;
  const most = numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  if (typeof pattern === "string") return matching(pattern, { least, most }, making) ?? textOf(making, name);
  const make = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
  const text = make ? make(making, name) : textOf(making, name);
  if (text.length >= least && text.length <= most) return text;
  const tail = `${tagOf(making).replaceAll("-", "")}${"x".repeat(Math.min(least, 100_000))}`;
  return tail.slice(0, Math.max(least, Math.min(most, 8)));
}

/** Undefined for a pattern that cannot be read, or for which no text of this length was found. */
function matching(
  pattern: string,
  { least, most }: { least: number; most: number },
  { seed, variant }: Making,
) {
  try {
    const texts = fc.sample(fc.stringMatching(new RegExp(pattern, "u")), {
      seed: seed + variant,
      numRuns: 30,
    });
    return texts.find((text) => text.length >= least && text.length <= most);
  } catch {
    return undefined;
  }
}
