import { type SchemaPart as Part, schemaPart } from "./schemaPart.ts";

const limits = new Set([
  ...["minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["minItems", "maxItems", "propertyNames"],
]);

/**
 * The schema of arguments as a listing shows it, which a model pays for: without limits and empty defaults. An object that
 * holds further objects is a plain one whose description names its fields; one with the fields of an earlier one is plain.
 */
export function brief(schema: object): { [key: string]: unknown; type: "object" } {
  return { ...briefPart(schemaPart.parse(schema)), type: "object" };
}

function eachBrief(properties: Record<string, Part>): Record<string, Part> {
  const shown = new Set<string>();
  const brief = Object.entries(properties).map(([name, part]) => {
    const fields = fieldsText(part);
    const isKnown = fieldsOf(part).length > 0 && shown.has(fields);
    shown.add(fields);
    if (isKnown) return [name, plain(part, part.description)];
    const isDeep = fieldsOf(part).some((field) => fieldsOf(field).length > 0);
    return [
      name,
      isDeep ? plain(part, [fields, part.description].filter(Boolean).join(" ")) : briefPart(part),
    ];
  });
  return Object.fromEntries(brief);
}

function plain(part: Part, description: string | undefined): Part {
  const { properties: _, required: __, items, ...rest } = withoutLimits(part);
  return { ...rest, ...(items && { items: { type: "object" } }), ...(description && { description }) };
}

function briefPart(part: Part): Part {
  const { properties, items, anyOf, ...rest } = withoutLimits(part);
  return {
    ...rest,
    ...(items && { items: briefPart(items) }),
    ...(anyOf && { anyOf: anyOf.map(briefPart) }),
    ...(properties && { properties: eachBrief(properties) }),
  };
}

const withoutLimits = (part: Part): Part =>
  Object.fromEntries(
    Object.entries(part).filter(
      ([key, value]) =>
        !limits.has(key) &&
        !(key === "additionalProperties" && value === false) &&
        !(key === "default" && ["{}", "[]", '""', "false"].includes(JSON.stringify(value))),
    ),
  );

const fieldsOf = ({ items, properties }: Part): Part[] =>
  Object.values(items?.properties ?? properties ?? {});

/** As in `[{id, direction?: forward|reverse, actions?: [{command, params?}]}]`; fields of the same shape have it once. */
function fieldsText({ items, properties, required = [], enum: choices }: Part): string {
  if (items?.properties) return `[${fieldsText(items)}]`;
  if (choices) return choices.join("|");
  if (!properties) return "";
  const shown = new Set<string>();
  const fields = Object.entries(properties).map(([name, field]) => {
    const inside = fieldsText(field);
    const isNew = inside !== "" && !shown.has(inside);
    shown.add(inside);
    return `${name}${required.includes(name) ? "" : "?"}${isNew ? `: ${inside}` : ""}`;
  });
  return `{${fields.join(", ")}}`;
}
