import type { ApiJsonSchema } from "../../../../domain/index.ts";
import { isObject, type Members } from "./reader.ts";

type Definitions = Readonly<Record<string, ApiJsonSchema>>;

const prefix = "#/$defs/";
/** Keywords with values of the API's own, in which nothing is a schema. */
const values = /^(enum|const|default|examples|required|dependentRequired)$/;

/**
 * A schema of a spec with everything that it refers to under `$defs`, as a validator takes it. In a request nothing is
 * required that is `readOnly`, in a response nothing that is `writeOnly`.
 */
export function wholeSchema(
  schema: ApiJsonSchema,
  definitions: Definitions,
  use?: "request" | "response",
): ApiJsonSchema {
  const found = new Map<string, ApiJsonSchema>();
  const hidden = use === undefined ? undefined : use === "request" ? "readOnly" : "writeOnly";
  const waiting: string[] = [];
  const fit = (one: ApiJsonSchema) =>
    fitted(one, { definitions, hidden, onRef: (name) => waiting.push(name) });
  const whole = fit(schema);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const definition = definitions[name];
    if (definition === undefined || found.has(name)) continue;
    found.set(name, true);
    found.set(name, fit(definition));
  }
  if (found.size === 0 || typeof whole === "boolean") return whole;
  return { ...whole, $defs: Object.fromEntries(found) };
}

type Fitting = {
  definitions: Definitions;
  hidden: "readOnly" | "writeOnly" | undefined;
  onRef(name: string): void;
};

function fitted(schema: ApiJsonSchema, fitting: Fitting): ApiJsonSchema {
  if (typeof schema === "boolean") return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, part(key, value, fitting)] as const);
  const { hidden } = fitting;
  const copy = Object.fromEntries(entries);
  if (hidden === undefined || !Array.isArray(copy.required)) return copy;
  const properties = propertiesOf(schema, fitting.definitions);
  const required = copy.required.filter((name: unknown) => !isHidden(properties.get(name), hidden, fitting));
  return { ...copy, required };
}

function part(key: string, value: unknown, fitting: Fitting): unknown {
  if (values.test(key)) return value;
  if (key === "$ref" && typeof value === "string") {
    if (value.startsWith(prefix)) fitting.onRef(value.slice(prefix.length));
    return value;
  }
  if (Array.isArray(value)) return value.map((one: unknown) => (isObject(one) ? fitted(one, fitting) : one));
  if (!isObject(value)) return value;
  if (["properties", "patternProperties", "dependentSchemas"].includes(key))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, isObject(one) ? fitted(one, fitting) : one]),
    );
  return fitted(value, fitting);
}

/** The properties of a schema and of the parts that it is composed of. */
function propertiesOf(schema: Members, definitions: Definitions, depth = 0): Map<unknown, unknown> {
  const parts = Array.isArray(schema.allOf) && depth < 5 ? schema.allOf : [];
  return new Map<unknown, unknown>([
    ...parts.flatMap((one: unknown) => [...propertiesOf(resolved(one, definitions), definitions, depth + 1)]),
    ...Object.entries(isObject(schema.properties) ? schema.properties : {}),
  ]);
}

function resolved(schema: unknown, definitions: Definitions): Members {
  if (!isObject(schema)) return {};
  const { $ref } = schema;
  const target = typeof $ref === "string" ? definitions[$ref.slice(prefix.length)] : undefined;
  return isObject(target) ? target : schema;
}

const isHidden = (property: unknown, hidden: string, { definitions }: Fitting): boolean =>
  isObject(property) && (property[hidden] === true || resolved(property, definitions)[hidden] === true);
