import type { Hostile, HostileSite } from "./hostile.ts";
import { request } from "./patterns.ts";

const nested = (wrap: (inner: object) => object, depth: number): object => {
  let schema: object = { type: "string" };
  for (let level = 0; level < depth; level++) schema = wrap(schema);
  return schema;
};
const named = <Value>(count: number, make: (index: number) => Value): Record<string, Value> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, make(index)]));
/** Each refers twice to the next: written out, they double with each. */
const doubling = (count: number, ref: (index: number) => object, by: "allOf" | "anyOf" | "oneOf") =>
  named(count, (index) =>
    index + 1 === count ? { type: "integer" } : { [by]: [ref(index + 1), ref(index + 1)] },
  );
const defRef = (index: number) => ({ $ref: `#/$defs/s${index}` });
const partRef = (index: number) => ({ $ref: `#/components/schemas/s${index}` });

const schemas: Readonly<Record<string, () => object>> = {
  "all of, 500 deep": () => nested((inner) => ({ allOf: [inner] }), 500),
  "all of, 2,000 deep": () => nested((inner) => ({ allOf: [inner] }), 2_000),
  "not, 2,000 deep": () => nested((not) => ({ not }), 2_000),
  "properties, 2,000 deep": () => nested((text) => ({ properties: { text } }), 2_000),
  "all of that doubles": () => ({ $defs: doubling(30, defRef, "allOf"), $ref: "#/$defs/s0" }),
  "any of that doubles": () => ({ $defs: doubling(30, defRef, "anyOf"), $ref: "#/$defs/s0" }),
  "one of that doubles": () => ({ $defs: doubling(30, defRef, "oneOf"), $ref: "#/$defs/s0" }),
  "a schema of itself": () => ({ allOf: [{ $ref: "#" }] }),
  "20,000 values": () => ({ enum: Array.from({ length: 20_000 }, (_, index) => ({ index })) }),
  "20,000 properties": () => ({ properties: named(20_000, () => ({ type: "string", minLength: 1 })) }),
  "5,000 kinds": () => ({ oneOf: Array.from({ length: 5_000 }, (_, minLength) => ({ minLength })) }),
  "5,000 patterns": () => ({
    patternProperties: Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`^t${index}(x+)+$`, { type: "string" }]),
    ),
  }),
  "one pattern": () => ({ patternProperties: { "^(t|te|ex|xt|t)+!$": false } }),
  ids: () => ({ $defs: named(3_000, (index) => ({ $id: `http://a.example/${index}`, type: "string" })) }),
};

const operation = (schema: object) => ({
  get: {
    operationId: "one",
    responses: { 200: { description: "x", content: { "application/json": { schema } } } },
  },
});
const documentOf = (paths: object, more: object = {}) =>
  JSON.stringify({ openapi: "3.1.0", info: { title: "Hostile", version: "1" }, paths, ...more });
const withSchemas = (parts: object) =>
  documentOf({ "/a": operation(partRef(0)) }, { components: { schemas: parts } });

const documents: Readonly<Record<string, () => string>> = {
  "all of that doubles": () => withSchemas(doubling(30, partRef, "allOf")),
  "any of that doubles": () => withSchemas(doubling(30, partRef, "anyOf")),
  "parts in a ring": () =>
    withSchemas(named(200, (index) => ({ properties: { a: partRef((index + 1) % 200) } }))),
  "a part that is itself": () => withSchemas({ s0: partRef(0) }),
  "references of references": () =>
    withSchemas(named(3_000, (index) => (index < 2_999 ? partRef(index + 1) : { type: "string" }))),
  "each part has all others": () =>
    withSchemas(named(60, () => ({ properties: named(60, (index) => partRef(index)) }))),
  "a deep part": () => documentOf({ "/a": operation(nested((inner) => ({ allOf: [inner] }), 2_000)) }),
  "3,000 paths": () =>
    documentOf(
      Object.fromEntries(
        Object.entries(named(3_000, () => operation({}))).map(([name, one]) => [`/${name}`, one]),
      ),
    ),
  "a path of 2,000 parts": () => documentOf({ [`/${"{a}/".repeat(2_000)}`]: operation({}) }),
  "a path item of itself": () => documentOf({ "/a": { $ref: "#/paths/~1a" } }),
  "an example of 500,000 signs": () =>
    documentOf({ "/a": operation({ type: "string", example: "x".repeat(500_000) }) }),
  "a pattern with an example": () =>
    documentOf({ "/a": operation({ type: "string", pattern: "^(a+)+$", example: `${"a".repeat(60)}!` }) }),
  "20,000 tags": () =>
    documentOf({}, { tags: Array.from({ length: 20_000 }, (_, index) => ({ name: `t${index}` })) }),
  "servers in variables": () =>
    documentOf(
      { "/a": operation({}) },
      {
        servers: [
          { url: `http://${"{a}".repeat(3_000)}`, variables: named(3_000, () => ({ default: "a" })) },
        ],
      },
    ),
  "YAML names of names": () =>
    `openapi: 3.1.0\n${Array.from({ length: 12 }, (_, level) => `l${level}: &l${level} [${Array.from({ length: 9 }, () => (level === 0 ? "x" : `*l${level - 1}`)).join(", ")}]`).join("\n")}`,
  "YAML of 100,000 keys": () =>
    `openapi: 3.1.0\n${Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join("\n")}`,
};

const pathOf = (index: number) => `/documents/${index}`;

/** What the site serves, by path. */
export const hostileFiles = (): ReadonlyMap<string, string> =>
  new Map(Object.values(documents).map((make, index) => [pathOf(index), make()]));

export const hostileSchemas = (site: HostileSite): Hostile[] => [
  ...Object.entries(schemas).map(
    ([name, make]): Hostile => ({
      kind: "schema",
      name,
      calls: [request(site, { json_schema: make() })],
    }),
  ),
  ...Object.keys(documents).map(
    (name, index): Hostile => ({
      kind: "schema",
      name: `OpenAPI: ${name}`,
      calls: [
        { tool: "import_api_spec", input: { source: site.url(pathOf(index)), name: `hostile ${index}` } },
      ],
    }),
  ),
];
