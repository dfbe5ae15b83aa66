/** Patterns, expressions, documents and schemas that are made to take years, or all memory. */

export type HostilePattern = { pattern: string; text: string };

const long = (piece: string, count: number, end = "!") => piece.repeat(count) + end;

/** 80 patterns with texts on which they backtrack without end: nested repeats, alternations, references, look-arounds, flags. */
export const patterns: readonly HostilePattern[] = [
  ["(a+)+", "(a*)*", "(a+)*", "(a|a)*", "(a|aa)+", "(?:a+){1,100}", "([a-z]+)*", "(\\w+\\s?)*"].flatMap(
    (core) =>
      [`^${core}$`, `/^${core}$/i`, `/^(?:${core}\\1?)+$/s`, `(?=${core}$)a`, `^(?:x|${core}){1,9}$`].map(
        (pattern) => ({ pattern, text: long("a", 60) }),
      ),
  ),
  [
    "(x+x+)+y",
    "(?:x*)*y",
    "(x|x)*y",
    "(.*)*y",
    "(?:.+x)+y",
    "(?:x+)+(?:x+)+y",
    "(.?x)*y",
    "((x+)+)+y",
  ].flatMap((core) =>
    [core, `/${core}/m`, `/${core}/u`, `(?<!q)${core}`, `(?:${core})|z`].map((pattern) => ({
      pattern,
      text: long("x", 200, ""),
    })),
  ),
].flat();

const doubled = (start: string, step: string, times: number) => `${start}${step.repeat(times)}`;
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

export type HostileExpression = { source: string; scope: Record<string, unknown> };

/** 50 expressions: texts and lists that double, many visits, long texts, deep nesting. */
export const expressions: readonly HostileExpression[] = [
  ...[8, 12, 16, 20, 24, 28].flatMap((times) => [
    { source: `size(${doubled("['ab']", ".map(x, x + x)", times)}[0]) == 1`, scope: {} },
    { source: `${doubled("[[1, 2]]", ".map(x, x + x)", times)}[0].all(y, y > 0) && false`, scope: {} },
    { source: `${doubled("['a,b']", ".map(x, x.replace('a', x + x))", times)} == []`, scope: {} },
    { source: `${doubled("['a']", ".map(x, [x, x, x].join(x))", times)} == []`, scope: {} },
    { source: `${doubled("[1]", ".map(x, [x, x])", times)} == []`, scope: {} },
    { source: `${doubled("['a']", ".map(x, '%s%s%s'.format([x, x, x]))", times)} == []`, scope: {} },
  ]),
  ...[3, 4, 5, 6].map((loops) => ({
    source: `${"xs.all(a, ".repeat(loops)}a >= 0${")".repeat(loops)}`,
    scope: { xs: numbers(60) },
  })),
  ...[
    "all(a, a >= 0)",
    "map(a, a + 1) == []",
    "filter(a, a % 7 == 0) == []",
    "exists(a, string(a) == '')",
  ].map((call) => ({ source: `xs.${call} && false`, scope: { xs: numbers(150_000) } })),
  ...["text.matches('(a+)+$')", "text.split('').size() == 1", "text.replace('a', 'bb') == ''"].map(
    (source) => ({
      source,
      scope: { text: long("a", 900_000) },
    }),
  ),
  { source: `${"(".repeat(60)}1${")".repeat(60)} == 1`, scope: {} },
  { source: `true${" && (true".repeat(45)}${")".repeat(45)}`, scope: {} },
  { source: `x == ${"1".repeat(2_100)}`, scope: { x: 1 } },
];

const lines = (count: number, line: (at: number) => string) => numbers(count).map(line).join("\n");

/** 40 texts of YAML: many keys, deep nesting, aliases, keys of keys, long scalars, unfinished parts. */
export const documents: readonly string[] = [
  ...[6_000, 20_000, 60_000, 100_000, 400_000].flatMap((count) => [
    lines(count, (at) => `k${at}: v`),
    `nodes: {${numbers(count).join(": 1, ")}: 1}`,
    `nodes: [${"1, ".repeat(count)}1]`,
    lines(count, () => "same: v"),
  ]),
  ...[300, 3_000, 30_000].flatMap((depth) => [
    `${"? ".repeat(depth)}a`,
    `${"- ".repeat(depth)}a`,
    `${"[".repeat(depth)}${"]".repeat(depth)}`,
    `${"{a: ".repeat(depth)}1${"}".repeat(depth)}`,
  ]),
  [
    "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
    lines(12, (at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(10)}]`),
  ].join("\n"),
  `a: &a [1]\n${lines(30_000, (at) => `b${at}: *a`)}`,
  lines(8_000, (at) => `- &a${at} [*a${Math.max(0, at - 1)}]`),
  `a: &a {b: *a}`,
  `a: "${"\\n".repeat(450_000)}"`,
  `a: |\n${" \n".repeat(400_000)}`,
  `a:\n${"\t".repeat(900_000)}`,
  `${"@\n".repeat(400_000)}`,
];

const nest = (depth: number, schema: (inner: unknown) => unknown, inner: unknown = true): unknown =>
  numbers(depth).reduce(schema, inner);

/** 20 JSON Schemas with values, and 10 descriptions of APIs: patterns, branches, references, depth. */
export const schemas: readonly { schema: unknown; value: unknown }[] = [
  ...patterns.slice(0, 8).map(({ pattern, text }) => ({ schema: { type: "string", pattern }, value: text })),
  ...[8, 16, 24].map((depth) => ({
    schema: nest(depth, (inner) => ({ anyOf: [{ items: inner }, { items: inner }] }), { const: 1 }),
    value: nest(depth, (inner) => [inner], 2),
  })),
  ...[100, 400, 900].map((depth) => ({
    schema: nest(depth, (inner) => ({ properties: { a: inner } })),
    value: {},
  })),
  { schema: { $ref: "#" }, value: 1 },
  { schema: { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, value: 1 },
  { schema: { uniqueItems: true }, value: numbers(20_000).map((at) => ({ at })) },
  { schema: { enum: numbers(60_000) }, value: -1 },
  { schema: { allOf: numbers(20_000).map(() => ({ type: "number" })) }, value: "a" },
  { schema: { patternProperties: { "^(a+)+$": true } }, value: { [long("a", 60)]: 1 } },
];

const api = (schemas: object, more: object = {}) =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "hostile", version: "1" },
    paths: { "/a": { get: { responses: { 200: { description: "a" } } } } },
    components: { schemas },
    ...more,
  });

export const apis: readonly string[] = [
  api(
    Object.fromEntries(numbers(30_000).map((at) => [`S${at}`, { $ref: `#/components/schemas/S${at + 1}` }])),
  ),
  api({ A: { $ref: "#/components/schemas/A" } }),
  api({ A: "deep" }).replace('"deep"', `${'{"properties":{"a":'.repeat(3_000)}{}${"}}".repeat(3_000)}`),
  api(
    Object.fromEntries(
      numbers(26).map((at) => [
        `S${at}`,
        {
          properties: {
            a: { $ref: `#/components/schemas/S${at + 1}` },
            b: { $ref: `#/components/schemas/S${at + 1}` },
          },
        },
      ]),
    ),
  ),
  api({ A: { type: "string", pattern: "^(a+)+$", example: long("a", 60) } }),
  api({}, { paths: Object.fromEntries(numbers(30_000).map((at) => [`/${at}`, { get: { responses: {} } }])) }),
  ...documents.slice(20, 24).map((text) => `openapi: 3.1.0\n${text}`),
];
