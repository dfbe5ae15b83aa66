import type { ApiJsonSchema } from "../../../../domain/index.ts";
import { isObject, type Members, type Reader, type SpecNode } from "./reader.ts";

type Schema = Record<string, unknown>;

const oneSchema: ReadonlySet<string> = new Set([
  ...["not", "items", "additionalProperties", "contains", "propertyNames", "if", "then", "else"],
  ...["unevaluatedItems", "unevaluatedProperties"],
]);
const listOfSchemas: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const mapOfSchemas: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);
const types: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "object", "array", "null"],
]);
/** The formats that are checked (`ajv-formats`). Others say nothing about a value. */
const formats: ReadonlySet<unknown> = new Set([
  ...["date", "time", "date-time", "iso-time", "iso-date-time", "duration", "uri", "uri-reference"],
  ...["uri-template", "url", "email", "hostname", "ipv4", "ipv6", "regex", "uuid", "json-pointer"],
  ...["json-pointer-uri-fragment", "relative-json-pointer", "byte", "int32", "int64", "float", "double"],
  ...["password", "binary"],
]);

const isCount = (value: unknown) => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isNumber = (value: unknown) => typeof value === "number" && Number.isFinite(value);
const isFlag = (value: unknown) => typeof value === "boolean";
const isText = (value: unknown) => typeof value === "string";

/** What a keyword with a plain value may hold; with anything else it is left out. */
const plainKeywords: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(
    ["maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"].map((key) => [
      key,
      isCount,
    ]),
  ),
  ...{ maxContains: isCount, minContains: isCount, minimum: isNumber, maximum: isNumber },
  multipleOf: (value) => typeof value === "number" && value > 0,
  ...{ exclusiveMinimum: isNumber, exclusiveMaximum: isNumber },
  ...{ uniqueItems: isFlag, readOnly: isFlag, writeOnly: isFlag, deprecated: isFlag },
  ...{ title: isText, description: isText, contentEncoding: isText, contentMediaType: isText },
  ...{ const: () => true, default: () => true },
  enum: (value) => Array.isArray(value) && value.length > 0,
  examples: Array.isArray,
  format: (value) => formats.has(value),
};

/**
 * Translates the schemas of all versions to JSON Schema 2020-12 that a strict validator takes. What others refer to
 * becomes one of `definitions`, once, so that cycles end.
 */
export class Schemas {
  private readonly names = new Map<string, string>();
  private readonly taken = new Set<string>();
  private readonly waiting: { name: string; node: SpecNode }[] = [];

  constructor(private readonly reader: Reader) {}

  convert(node: SpecNode | undefined): ApiJsonSchema {
    if (node === undefined) return true;
    const { value } = node;
    if (typeof value === "boolean") return value;
    if (!isObject(value)) {
      this.reader.wrong(node, "a schema");
      return true;
    }
    const nullable = value.nullable === true || value["x-nullable"] === true;
    return nullable ? orNull(this.keywords(node, value)) : this.keywords(node, value);
  }

  /** All schemas that {@link convert} left references to. */
  definitions(): Record<string, ApiJsonSchema> {
    const found = new Map<string, ApiJsonSchema>();
    for (let next = this.waiting.shift(); next; next = this.waiting.shift())
      found.set(next.name, this.convert(next.node));
    return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private keywords(node: SpecNode, value: Members): ApiJsonSchema {
    const schema: Schema = {};
    for (const key of Object.keys(value)) this.keyword(node, key, schema);
    if (typeof value.$ref !== "string") {
      this.adjust(node, value, schema);
      return schema;
    }
    // Next to a reference the older versions ignore everything; what OpenAPI 3.1 adds there counts.
    const target = this.reader.target(node, value.$ref);
    return target === undefined || { ...schema, $ref: `#/$defs/${this.nameOf(target)}` };
  }

  private nameOf(target: SpecNode): string {
    const key = `${target.document}#${target.pointer}`;
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const last = target.pointer.split("/").at(-1) || /([^/.]*)[^/]*$/.exec(target.document)?.[1];
    const wanted = (last ?? "").replaceAll(/~[01]|[^\w.-]+/g, "_") || "Schema";
    let name = wanted;
    for (let count = 2; this.taken.has(name); count++) name = `${wanted}_${count}`;
    this.taken.add(name);
    this.names.set(key, name);
    this.waiting.push({ name, node: target });
    return name;
  }

  private keyword(node: SpecNode, key: string, schema: Schema): void {
    const found = this.reader.own(node, key);
    // Null is a value like any other here.
    if (found === undefined) {
      if (key === "const" || key === "default") schema[key] = null;
    } else if (oneSchema.has(key)) schema[key] = this.oneOrTuple(found, key, schema);
    else if (listOfSchemas.has(key)) this.list(found, key, schema);
    else if (mapOfSchemas.has(key)) schema[key] = this.map(found);
    else if (Object.hasOwn(plainKeywords, key)) this.plain(found, key, schema);
  }

  private plain(node: SpecNode, key: string, schema: Schema): void {
    if (plainKeywords[key]?.(node.value) === true) schema[key] = node.value;
    // Not that of an unknown format, and `exclusiveMinimum: true` is translated.
    else if (key !== "format" && typeof node.value !== "boolean")
      this.reader.warn(node, "has a value of a wrong type and was left out");
  }

  /** `items` may be a list of schemas in old documents. */
  private oneOrTuple(node: SpecNode, key: string, schema: Schema): unknown {
    if (key !== "items" || !Array.isArray(node.value)) return this.convert(node);
    this.list(node, "prefixItems", schema);
    return true;
  }

  private list(node: SpecNode, key: string, schema: Schema): void {
    if (!Array.isArray(node.value)) {
      this.reader.wrong(node, "a list of schemas");
      return;
    }
    const all = node.value.flatMap((_, index) => {
      const one = this.reader.own(node, index);
      return one ? [this.convert(one)] : [];
    });
    if (all.length > 0) schema[key] = all;
  }

  private map(node: SpecNode): Schema {
    return Object.fromEntries(
      Object.keys(this.reader.object(node)).map((key) => [key, this.convert(this.reader.own(node, key))]),
    );
  }

  private adjust(node: SpecNode, value: Members, schema: Schema): void {
    this.type(node, value, schema);
    exclusive(value, schema);
    if (value.example !== undefined && schema.examples === undefined) schema.examples = [value.example];
    if (Array.isArray(value.required)) {
      const required = [...new Set(value.required.filter(isText))];
      if (required.length > 0) schema.required = required;
    }
    if (isObject(value.dependentRequired)) schema.dependentRequired = value.dependentRequired;
    this.pattern(node, value, schema);
    if (schema.if !== undefined && schema.then === undefined && schema.else === undefined) delete schema.if;
    if (schema.contains === undefined) {
      delete schema.minContains;
      delete schema.maxContains;
    }
    this.discriminate(node, schema);
  }

  private type(node: SpecNode, { type }: Members, schema: Schema): void {
    if (type === undefined || type === null) return;
    if (type === "file") Object.assign(schema, { type: "string", format: "binary" });
    else if (types.has(type)) schema.type = type;
    else if (Array.isArray(type) && type.length > 0 && type.every((one) => types.has(one)))
      schema.type = [...new Set(type)];
    else this.reader.warn(node, `has the unknown type ${JSON.stringify(type).slice(0, 60)}`);
  }

  /** Patterns are read with the flag `u`, as JSON Schema says. */
  private pattern(node: SpecNode, { pattern }: Members, schema: Schema): void {
    if (typeof pattern === "string") {
      if (isPattern(pattern)) schema.pattern = pattern;
      else this.reader.warn(node, `has the pattern ${pattern.slice(0, 100)}, which is not checked`);
    }
    if (isObject(schema.patternProperties))
      schema.patternProperties = Object.fromEntries(
        Object.entries(schema.patternProperties).filter(([key]) => isPattern(key)),
      );
  }

  /** Each alternative holds only for the names that the discriminator gives it, so that at most one of them does. */
  private discriminate(node: SpecNode, schema: Schema): void {
    const discriminator = this.reader.own(node, "discriminator");
    if (discriminator === undefined || !isObject(discriminator.value)) return;
    const { propertyName, mapping } = discriminator.value;
    const key = Array.isArray(schema.oneOf) ? "oneOf" : "anyOf";
    const alternatives = schema[key];
    if (typeof propertyName !== "string" || !Array.isArray(alternatives)) return;
    const mapped = Object.entries(isObject(mapping) ? mapping : {}).map(
      ([name, ref]) => [name, this.mapped(node, ref)] as const,
    );
    schema[key] = alternatives.map((one: unknown) => {
      const ref = isObject(one) ? one.$ref : undefined;
      if (typeof ref !== "string") return one;
      const own = mapped.flatMap(([name, target]) => (target === ref ? [name] : []));
      const names = [...own, ref.slice("#/$defs/".length)];
      const is = { type: "object", properties: { [propertyName]: { enum: [...new Set(names)] } } };
      return { allOf: [{ ...is, required: [propertyName] }, one] };
    });
  }

  /** A mapping names a schema by a reference or by its name. */
  private mapped(node: SpecNode, ref: unknown): string | undefined {
    if (typeof ref !== "string") return undefined;
    const isName = /^[\w.-]+$/.test(ref) && !/\.(json|ya?ml)$/i.test(ref);
    const target = this.reader.target(node, isName ? `#/components/schemas/${ref}` : ref);
    return target && `#/$defs/${this.nameOf(target)}`;
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** `exclusiveMinimum: true` makes the limit next to it exclusive (OpenAPI 3.0 and Swagger 2). */
function exclusive(value: Members, schema: Schema): void {
  for (const [flag, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (value[flag] !== true || schema[limit] === undefined) continue;
    schema[flag] = schema[limit];
    delete schema[limit];
  }
}

function orNull(schema: ApiJsonSchema): ApiJsonSchema {
  if (typeof schema === "boolean") return schema;
  const { type, enum: values, ...rest } = schema;
  if (type === undefined || ["$ref", "allOf", "anyOf", "oneOf", "const"].some((key) => key in rest))
    return { anyOf: [schema, { type: "null" }] };
  return {
    ...rest,
    type: [...new Set([type, "null"].flat())],
    ...(Array.isArray(values) && { enum: values.includes(null) ? values : [...values, null] }),
  };
}
