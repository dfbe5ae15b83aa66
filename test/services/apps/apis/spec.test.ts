import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { apiSpecSchema } from "#mcp-server/domain/apiSpec.ts";
import {
  createSchemaChecker,
  type SchemaChecker,
} from "#mcp-server/services/apps/apis/requests/schemaChecker.ts";
import { readSpec } from "#mcp-server/services/apps/apis/spec/readSpec.ts";
import { wholeSchema } from "#mcp-server/services/apps/apis/spec/wholeSchema.ts";
import { bundled } from "../../../fixtures/engine.ts";

const fixtures = new URL("../../../fixtures/apis/", import.meta.url);
const root = "file:///api.yaml";
const fixture = (name: string) => readFileSync(new URL(name, fixtures), "utf8");

function read(document: string | object, others: Record<string, string> = {}) {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  return readSpec({ root, documents: { [root]: text, ...others } });
}

function specOf(document: string | object) {
  const answer = read(document);
  if (!("spec" in answer)) throw new Error(JSON.stringify(answer));
  return { ...answer.spec, name: "api", warnings: answer.warnings };
}

let checker: SchemaChecker;
beforeAll(async () => {
  const entry = "../../../../mcp-server/src/services/apps/apis/requests/schemaWorker.ts";
  checker = createSchemaChecker(await bundled(fileURLToPath(new URL(entry, import.meta.url))));
});
afterAll(() => checker.close());

/** A document with one schema, `S`, next to others. */
const withSchemas = (schemas: object, openapi = "3.0.3") =>
  specOf({
    openapi,
    info: { title: "t", version: "1" },
    paths: {
      "/s": {
        get: {
          responses: {
            200: {
              description: "",
              content: { "application/json": { schema: { $ref: "#/components/schemas/S" } } },
            },
          },
        },
      },
    },
    components: { schemas },
  });

async function judged(schemas: object, values: readonly unknown[], openapi?: string) {
  const { operations, definitions } = withSchemas(schemas, openapi);
  const schema = operations[0]?.responses["200"]?.content["application/json"]?.schema ?? false;
  const whole = wholeSchema(schema, definitions);
  const results: boolean[] = [];
  for (const json of values) results.push((await checker.check(whole, { json })).findings.length === 0);
  return results;
}

describe("the same API in three versions", () => {
  it("reads as the same operations, definitions, servers and ways to sign in", () => {
    const [two, three, newest] = ["2.0", "3.0", "3.1"].map((version) =>
      specOf(fixture(`pets-${version}.yaml`)),
    );
    expect([two?.format, three?.format, newest?.format]).toEqual(["2.0", "3.0", "3.1"]);
    expect({ ...two, format: "" }).toEqual({ ...three, format: "" });
    expect({ ...newest, format: "" }).toEqual({ ...three, format: "" });
  });

  it("keeps what a test needs of each operation", () => {
    const { operations, servers, security_schemes, definitions } = specOf(fixture("pets-3.0.yaml"));
    expect(operations.map(({ id, method, path }) => `${id} ${method} ${path}`)).toEqual([
      "listPets GET /pets",
      "addPet POST /pets",
      "getPet GET /pets/{id}",
      "delete_pets_id DELETE /pets/{id}",
    ]);
    expect(servers).toEqual(["https://pets.example/v1"]);
    expect(security_schemes).toMatchObject({
      key: { in: "header", name: "x-key" },
      user: { scheme: "basic" },
    });
    expect(operations.map(({ security }) => security.length)).toEqual([0, 1, 1, 1]);
    expect(operations[2]).toMatchObject({
      extensions: { "x-priority": "high" },
      parameters: [{ name: "id", in: "path", style: "simple", schema: { exclusiveMinimum: 0 } }],
    });
    expect(definitions.Pet).toMatchObject({
      properties: { parent: { $ref: "#/$defs/Pet" }, owner: { type: ["string", "null"] } },
    });
  });

  it("requires nothing read-only in a request, and keeps cycles as references", async () => {
    const { definitions } = specOf(fixture("pets-2.0.yaml"));
    const [request, reply] = (["request", "response"] as const).map((use) =>
      wholeSchema({ $ref: "#/$defs/Pet" }, definitions, use),
    );
    const json = { name: "Rex", owner: null, parent: { name: "Ada", age: 3 } };
    expect((await checker.check(request ?? false, { json })).findings).toEqual([]);
    const { findings } = await checker.check(reply ?? false, { json });
    expect(findings.map(({ pointer }) => pointer).sort()).toEqual(["", "/parent"]);
  });
});

describe("schemas of OpenAPI 3.0", () => {
  it("allows null where nullable says so, also next to enum, allOf and references", async () => {
    const nullable = (schema: object) =>
      judged({ S: { ...schema, nullable: true }, T: { type: "string" } }, [null, "a", 5]);
    expect(await nullable({ type: "string" })).toEqual([true, true, false]);
    expect(await nullable({ type: "string", enum: ["a"] })).toEqual([true, true, false]);
    expect(await nullable({ allOf: [{ $ref: "#/components/schemas/T" }] })).toEqual([true, true, false]);
    expect(await nullable({ $ref: "#/components/schemas/T" })).toEqual([true, true, false]);
    expect(await judged({ S: { type: "string" } }, [null])).toEqual([false]);
  });

  it("makes a limit exclusive, and leaves it where the flag is false", async () => {
    expect(await judged({ S: { type: "number", minimum: 1, exclusiveMinimum: true } }, [1, 1.1])).toEqual([
      false,
      true,
    ]);
    expect(await judged({ S: { type: "number", maximum: 1, exclusiveMaximum: false } }, [1, 1.1])).toEqual([
      true,
      false,
    ]);
  });

  it("chooses by the discriminator, by the name of a schema or of its mapping", async () => {
    const animal = (more: object) => ({ type: "object", properties: { kind: { type: "string" }, ...more } });
    const schemas = {
      S: {
        oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }],
        discriminator: { propertyName: "kind", mapping: { hound: "#/components/schemas/Dog" } },
      },
      Cat: animal({ lives: { type: "integer" } }),
      Dog: animal({ tricks: { type: "array" } }),
    };
    const values = [
      { kind: "Cat", lives: 9 },
      { kind: "hound", tricks: [] },
      { kind: "Cat", lives: "nine" },
      { kind: "cow" },
      {},
    ];
    expect(await judged(schemas, values)).toEqual([true, true, false, false, false]);
  });

  it("leaves out what a strict validator refuses, and says so where it changes the judgement", async () => {
    const odd = {
      ...{ type: "object", xml: {}, "x-more": 1, required: true, description: 5, externalDocs: {} },
      properties: { a: { type: "string", pattern: "^(?i)a$", format: "phone", minLength: "5", example: 1 } },
    };
    expect(await judged({ S: odd }, [{ a: "b" }, { a: 5 }, []])).toEqual([true, false, false]);
    const { warnings } = withSchemas({ S: odd });
    expect(warnings.join("\n")).toMatch(/pattern .* not checked/);
    expect(warnings.join("\n")).toMatch(/minLength has a value of a wrong type/);
  });
});

describe("references", () => {
  it("asks for the documents that are missing, and reads them relative to each other", () => {
    const paths = { "/a": { $ref: "parts/a.yaml#/item" } };
    const document = { openapi: "3.1.0", info: { title: "t", version: "1" }, paths };
    expect(read(document)).toEqual({ missing: ["file:///parts/a.yaml"] });
    const item = { get: { responses: { 200: { $ref: "../common.yaml#/ok" } } } };
    const others = {
      "file:///parts/a.yaml": JSON.stringify({ item }),
      "file:///common.yaml": "ok: {headers: {x-fine: {required: true}}}",
    };
    expect(read(document, others)).toMatchObject({
      spec: { operations: [{ responses: { 200: { required_headers: ["x-fine"] } } }] },
    });
  });

  it("ends where one refers to itself or to nothing", () => {
    const document = (ref: string) => ({
      ...{
        openapi: "3.0.0",
        info: { title: "t", version: "1" },
        paths: { "/a": { get: { responses: { 200: { $ref: ref } } } } },
      },
      components: {
        responses: { A: { $ref: "#/components/responses/B" }, B: { $ref: "#/components/responses/A" } },
      },
    });
    expect(read(document("#/components/responses/A"))).toMatchObject({
      problems: [expect.stringContaining("refers to itself")],
    });
    expect(read(document("#/components/responses/C"))).toMatchObject({
      warnings: [expect.stringContaining("which does not exist")],
    });
  });
});

describe("documents that cannot be used", () => {
  const of = (more: object) => ({ openapi: "3.0.0", info: { title: "t", version: "1" }, paths: {}, ...more });
  const operation = (more: object) => of({ paths: { "/a": { get: { responses: {}, ...more } } } });
  const levels = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => `a${i + 1}: &a${i + 1} [${"*aN,".repeat(9).replaceAll("N", String(i))}]`,
    );
  const bomb = ["openapi: 3.0.0", "a0: &a0 [x]", ...levels(9)].join("\n");

  const repeated = `openapi: 3.0.0\nx-a: &a "${"x".repeat(100_000)}"\npaths: { /a: { get: { x-b: [${"*a,".repeat(900)}] } } }`;

  it.each([
    ["parts that are repeated too often", repeated, "expands to more than 40 MB"],
    ["a text", "hello", "it is not an object"],
    ["another document", '{"name": "x"}', 'neither "openapi" nor "swagger"'],
    ["an unknown version", of({ openapi: "4.0.0" }), "version 4.0.0"],
    ["Swagger 1", { swagger: "1.2" }, "version 1.2"],
    ["a broken text", "openapi: [", "neither JSON nor YAML"],
    ["paths that are a list", of({ paths: [] }), "#/paths must be an object; it is a list"],
    [
      "a path that is a text",
      of({ paths: { "/a": "x" } }),
      '#/paths/~1a must be an object; it is string "x"',
    ],
    [
      "parameters that are an object",
      operation({ parameters: {} }),
      "#/paths/~1a/get/parameters must be a list",
    ],
    ["a parameter without a name", operation({ parameters: [{ in: "query" }] }), "parameters/0 needs a name"],
    [
      "responses that are a number",
      operation({ responses: 5 }),
      "responses must be an object; it is number 5",
    ],
    [
      "a schema that is a text",
      operation({ parameters: [{ name: "a", in: "query", schema: "x" }] }),
      "schema must be a schema",
    ],
    ["a bomb of YAML aliases", bomb, "expand to more than 5000000 values"],
    [
      "an endless nesting",
      `{"openapi":"3.0.0","paths":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      "#/paths/0/0/0/0 is nested deeper than 200 levels",
    ],
  ])("refuses %s and says why", (_what, document, reason) => {
    const answer = read(document);
    expect("problems" in answer && answer.problems.join("; ")).toContain(reason);
  });

  it("tells all places at once", () => {
    const parameters = [{ in: "query" }, { name: "a" }, 5];
    expect(read(operation({ parameters }))).toMatchObject({ problems: { length: 4 } });
  });
});

describe("documents with faults at any place", () => {
  const odd = [null, 1, "x", [], { $ref: "#/paths" }, { $ref: 5 }, ["constructor"]];
  const placesIn = (value: unknown): [object, string][] =>
    typeof value !== "object" || value === null
      ? []
      : Object.entries(value).flatMap(([key, part]) => [[value, key], ...placesIn(part)]);
  const document: object = parse(fixture("pets-3.0.yaml"));
  const withFault = (place: number, value: unknown) => {
    const copy = structuredClone(document);
    const [holder, key] = placesIn(copy)[place] ?? [{}, ""];
    Reflect.set(holder, key, value);
    return copy;
  };

  it.each(
    odd.map((value) => [JSON.stringify(value), value] as const),
  )("are read or refused: %s", (_, value) => {
    const answers = placesIn(document).map((_place, index) => read(withFault(index, value)));
    expect(answers.length).toBeGreaterThan(100);
    for (const answer of answers) {
      if ("spec" in answer) apiSpecSchema.parse({ ...answer.spec, name: "api" });
      else expect(Object.values(answer).flat()).not.toEqual([]);
    }
  });
});

/** Documents that this code was not written for. */
describe("the documents of @readme/oas-examples", () => {
  const folder = dirname(createRequire(import.meta.url).resolve("@readme/oas-examples/package.json"));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /^\d.*\.(json|ya?ml)$/.test(file),
  );
  const methods = /^(get|post|put|patch|delete|head|options|trace)$/;
  const operationsIn = (item: object) => Object.keys(item).filter((key) => methods.test(key)).length;
  /** One path may stand for another. */
  const counted = ({ paths = {} }: { paths?: Record<string, { $ref?: string }> }) =>
    Object.values(paths).reduce((sum, item) => {
      const other = item.$ref?.replace("#/paths/", "").replaceAll("~1", "/");
      return sum + operationsIn(other === undefined ? item : (paths[other] ?? {}));
    }, 0);

  const refsTo = (definitions: object) =>
    Object.keys(definitions).map((name) => ({ $ref: `#/$defs/${name}` }));

  it("are more than a hundred", () => expect(files.length).toBeGreaterThan(100));

  it.each(files)("%s: every operation is listed and every schema can be judged by", async (file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const { warnings: _, ...spec } = specOf(text);
    expect(spec.operations).toHaveLength(counted(parse(text)));
    expect(new Set(spec.operations.map(({ id }) => id)).size).toBe(spec.operations.length);
    apiSpecSchema.parse(spec);
    // The same documents in YAML have the same schemas.
    if (!file.endsWith(".json")) return;
    const { definitions } = spec;
    const used = spec.operations.flatMap(({ body, responses, parameters }) => [
      ...Object.values(body?.content ?? {}),
      ...Object.values(responses).flatMap(({ content }) => Object.values(content)),
      ...parameters,
    ]);
    const schemas = used.flatMap(({ schema }) => schema ?? []);
    // As one, which compiles each definition once.
    const whole = wholeSchema({ anyOf: [true, ...schemas, ...refsTo(definitions)] }, definitions, "response");
    expect((await checker.check(whole, { json: {} })).findings).toEqual([]);
  });
});

it("a check has the memory that its answer needs, and a small schema that doubles has little", async () => {
  const item = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const answer = Array.from({ length: 100_000 }, (_, at) => ({ name: `item ${at}`, tags: ["a"] }));
  expect(await checker.check({ type: "array", items: item }, { json: answer })).toMatchObject({
    findings: [],
  });
  const $defs: Record<string, object> = { s30: { type: "integer" } };
  for (let at = 0; at < 30; at++)
    $defs[`s${at}`] = { anyOf: [{ $ref: `#/$defs/s${at + 1}` }, { $ref: `#/$defs/s${at + 1}` }] };
  const before = process.memoryUsage().rss;
  let largest = before;
  const watch = setInterval(() => {
    largest = Math.max(largest, process.memoryUsage().rss);
  }, 10);
  const doubled = checker.check({ $defs, $ref: "#/$defs/s0" }, { json: "a" });
  await expect(doubled).rejects.toMatchObject({ code: "OUT_OF_MEMORY" });
  clearInterval(watch);
  expect(largest - before).toBeLessThan(150_000_000);
});
