import { type SchemaPart as Part, schemaPart } from "../../registry/schemaPart.ts";

export type Argument = { name: string; type: string; isRequired: boolean; about: string };

/** The arguments of a tool by its JSON Schema, the required ones first. */
export function argumentsOf(schema: object): Argument[] {
  const { properties = {}, required = [] } = schemaPart.parse(schema);
  const all = Object.entries(properties).map(([name, part]) => ({
    ...{ name, type: typeOf(part), isRequired: required.includes(name) && part.default === undefined },
    about: [
      part.description,
      ...(part.default === undefined ? [] : [`default ${JSON.stringify(part.default)}`]),
    ]
      .filter(Boolean)
      .join("; "),
  }));
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

function typeOf({ type, enum: choices, const: only, items, anyOf }: Part): string {
  if (choices) return choices.map(String).join(" | ");
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (type === "array") return items ? `list of ${typeOf(items)}` : "list";
  return type === undefined ? "any" : [type].flat().join(" or ");
}

/** Values by the names of arguments, such as a tester would give. */
const samples: Readonly<Record<string, unknown>> = {
  ...{
    device_id: "browser",
    testcase: "sign in",
    userinterface_name: "shop",
    node: "Home",
    script_name: "goto",
  },
  actions: [{ command: "click_element", params: { selector: "Sign in" } }],
  checks: [{ command: "text_visible", params: { text: "Welcome" } }],
};
const sampleTest = { name: "sign in", steps: ["open https://shop.example", 'check text "Welcome"'] };

/** The required arguments with values as a call would give them. */
export function exampleOf(schema: object): Record<string, unknown> {
  const { properties = {}, required = [] } = schemaPart.parse(schema);
  const needed = Object.entries(properties).filter(
    ([name, part]) => required.includes(name) && part.default === undefined,
  );
  return Object.fromEntries(needed.map(([name, part]) => [name, sampleOf(name, part)]));
}

function sampleOf(name: string, part: Part): unknown {
  const { type, enum: choices, const: only, items, anyOf } = part;
  if (type === "object") return name === "testcase" ? sampleTest : exampleOf(part);
  if (name in samples) return samples[name];
  if (anyOf?.[0]) return sampleOf(name, anyOf[0]);
  if (type === "array") return items ? [sampleOf(name, items)] : [];
  return choices?.[0] ?? only ?? plainSample(name, type);
}

function plainSample(name: string, type: Part["type"]): unknown {
  if (type === "integer" || type === "number") return 1;
  return type === "boolean" ? true : name.toUpperCase();
}
