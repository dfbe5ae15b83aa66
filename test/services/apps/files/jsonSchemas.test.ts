import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { fileSchemas } from "#mcp-server/services/apps/files/jsonSchemas.ts";
import { builtInVerbs } from "../../../fixtures/verbs.ts";

const schemas = fileSchemas(builtInVerbs());
const ajv = new Ajv2020({ strict: false, validateFormats: false });
for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
const problems = (name: string, value: unknown) => {
  ajv.validate(name, value);
  return ajv.errors ?? [];
};
const read = (path: string) => parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const shop = () => read("../../../shop/shop.yaml");

test.each(Object.entries(schemas))("%s in docs is in step with the code", async (name, schema) => {
  const file = `../../../../mcp-server/docs/${name}`;
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(file);
});

describe("the schema of an app's file", () => {
  test.each([
    ["../../../shop/shop.yaml"],
    ["../../../../mcp-server/demo/todomvc.yaml"],
  ])("takes %s", (path) => {
    expect(problems("app.schema.json", read(path))).toEqual([]);
  });

  test.each<[string, object]>([
    ["an unknown key", { ...shop(), colour: "red" }],
    ["a check with an unknown argument", { ...shop(), nodes: { Shop: { text_visible: { txt: "A" } } } }],
    ["a step that no driver has", { ...shop(), edges: { "A -> B": { clik_element: {} } } }],
    ["a test without a name", { ...shop(), tests: [{ steps: [] }] }],
    [
      "a step of a test with an unknown key",
      { ...shop(), tests: [{ name: "x", steps: [{ reload: null, on: 1 }] }] },
    ],
  ])("marks %s", (_, value) => {
    expect(problems("app.schema.json", value)).not.toEqual([]);
  });
});

describe("the schema of a test's file", () => {
  test.each<[string, object]>([
    [
      "one test without a name",
      { app: "shop", covers: ["A-1"], steps: ["reload", { repeat: 2, steps: ["reload"] }] },
    ],
    [
      "several tests of an app",
      { app: "shop", tests: [{ name: "x", steps: [{ not: { url_matches: { url: "a" } } }] }] },
    ],
    ["a placeholder for a number", { steps: [{ element_count: { selector: "A", count: "{{n}}" } }] }],
    ["blocks and edges", { name: "x", blocks: [{ id: "start", type: "start" }], edges: [] }],
  ])("takes %s", (_, value) => {
    expect(problems("test.schema.json", value)).toEqual([]);
  });

  test.each<[string, object]>([
    ["a text for a number", { steps: [{ element_count: { selector: "A", count: "two" } }] }],
    ["no steps", { name: "x" }],
    ["an unknown key", { step: [], steps: [] }],
  ])("marks %s", (_, value) => {
    expect(problems("test.schema.json", value)).not.toEqual([]);
  });
});
