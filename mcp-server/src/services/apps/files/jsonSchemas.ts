import { z } from "zod";
import { referenceDocumentSchema, stepsTestSchema, userInterfaceSchema } from "../../../domain/index.ts";
import { schemaJson } from "../../values/inputProblems.ts";
import { actionPhrases } from "../authoring/actionPhrases.ts";
import { checkPhrases } from "../authoring/checkPhrases.ts";
import { type CheckOffer, type CommandOffer, kinds, type Verbs } from "../steps/index.ts";
import { edgeValueSchema, nodeValueSchema } from "./yamlDocument.ts";

type Json = Record<string, unknown>;

/** The JSON Schemas of files for editors, by the names of their own files. That of apps refers to that of tests. */
export const fileSchemas = (verbs: Verbs): Readonly<Record<string, Json>> => ({
  "app.schema.json": appSchema(),
  "test.schema.json": testSchema(verbs),
});

const dialect = "https://json-schema.org/draft/2020-12/schema";
const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` });
const ofTests = (name: string): Json => ({ $ref: `test.schema.json#/$defs/${name}` });
const listOf = (items: Json): Json => ({ type: "array", items });
const listed = (item: Json): Json[] => [{ type: "null" }, item, listOf(item)];

function testSchema(verbs: Verbs): Json {
  const list = { app: { type: "string", description: said.app }, tests: listOf(ref("test")) };
  return {
    $schema: dialect,
    title: "A test of Labwright, or several of one app",
    anyOf: [
      ref("single"),
      { type: "object", properties: list, required: ["tests"], additionalProperties: false },
    ],
    $defs: {
      test: testObject(["name"]),
      single: testObject([]),
      step: { anyOf: [{ type: "string", description: wordsText() }, ref("verb")] },
      verb: stepObject(verbs),
    },
  };
}

const said: Readonly<Record<string, string>> = {
  name: "Unique; a file of one test may leave it out and is called after the file.",
  app: "Name of the app (userinterface) that it tests.",
  userinterface_name: "The same as app.",
  description: "For people who read the test.",
  tags: "Words to choose tests by.",
  covers: "Codes of the requirements that it checks.",
  fresh:
    "False: it goes on in what the device shows. True: it starts fresh and empty, in a browser; other devices refuse it.",
  storage_state: "Name of a saved storage state to start with.",
  setup: "Name of a test case that runs once before; this one starts with the storage state that it leaves.",
  inputs: "What a caller gives, as {{name}} in steps.",
  variables: "Values that steps use as {{name}}.",
  types: "What inputs and variables are: text, number, boolean, list or object.",
  for_each:
    "The test runs once for each row: a list, one {{expression}}, or a .csv or .json file next to the test or of the uploads folder.",
  outputs: "What a caller gets back: name of the output to a variable or {{id.output}}.",
  retries: "How often it is tried again.",
  retry_on: "error: only when it could not be judged. any, by default: also when it failed.",
  steps: "What is done and checked, one after the other.",
};

function testObject(required: readonly string[]): Json {
  const { properties } = propertiesOf(stepsTestSchema);
  const described = Object.entries(properties).map(([key, value]) => [
    key,
    { ...value, description: said[key] },
  ]);
  const graph = {
    ...listOf({ type: "object" }),
    description: "In place of steps, for a test that branches.",
  };
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(described),
      steps: { ...listOf(ref("step")), description: said.steps },
      ...{ blocks: graph, edges: graph },
    },
    required,
    anyOf: [{ required: ["steps"] }, { required: ["blocks", "edges"] }],
    additionalProperties: false,
  };
}

const wordsText = () => {
  const forms = new Set([...actionPhrases, ...checkPhrases].map(({ form }) => form));
  return `Words: ${[...forms].filter((form) => form !== "").join("; ")}.`;
};

function stepObject({ commands, checks }: Verbs): Json {
  const offers = [...commands, ...checks].map(([name, offered]) => [name, argumentsOf(offered)]);
  const steps = listOf(ref("step"));
  return {
    type: "object",
    minProperties: 1,
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(offers),
      ...Object.fromEntries(Object.keys(kinds).map((name) => [name, { description: ofKinds[name] }])),
      check: { type: "string", description: "Words that must hold a check." },
      not: { ...ref("verb"), description: "A check that must not hold." },
      repeat: { type: ["integer", "string"], description: "How often steps run." },
      while: { type: "string", description: "Steps run while this CEL expression is true." },
      steps: { ...steps, description: "What a loop repeats." },
      on_failure: { enum: ["break", "continue"], description: "Of a loop." },
      id: { type: "string", description: "Names the step's output: {{id.output.value}}." },
      label: { type: "string", description: "What reports call the step." },
      into: { type: "string", description: "The variable that takes what the command read." },
      iterator: { type: "integer", description: "How often the command runs." },
      timeout_ms: { type: "integer", description: "How long a check may take to hold." },
      action_type: { type: "string", description: "Kind or driver of the controller that runs it." },
      verification_type: { type: "string", description: "Kind or driver of the controller that judges." },
      retry_actions: { ...steps, description: "What is done when the command fails; then the step passes." },
      failure_actions: { ...steps, description: "What is done when that fails, too." },
      continue_on_fail: { type: "boolean", description: "Of a step of an edge." },
      wait_ms: { type: "integer", description: "A pause after a step of an edge." },
    },
  };
}

const ofKinds: Readonly<Record<string, string>> = {
  go: "Goes to a node of the app and checks that it is there.",
  call: "Runs another test case: its name, or {testcase, inputs}.",
  script: "Runs a script: its name, or {script, args, timeout_ms}.",
  set: "Sets variables.",
  sleep: "Milliseconds to wait.",
  condition: "A CEL expression that must be true.",
  api_request: "Sends an HTTP request: {method, url, headers, body, expect_status, checks}.",
  get_current_time: "Reads the time.",
};

/** A placeholder may replace any argument that is not a text. */
function argumentsOf(offers: readonly (CommandOffer | CheckOffer)[]): Json {
  const forms = offers.map(({ input }) => {
    const { properties, required } = propertiesOf(input);
    const open = Object.entries(properties).map(([key, value]) => [key, orPlaceholder(value)]);
    return {
      type: required.length === 0 ? ["object", "null"] : "object",
      properties: Object.fromEntries(open),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    };
  });
  const distinct = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
  const [form] = distinct;
  const shape = distinct.length === 1 ? form : { anyOf: distinct };
  return { description: offers[0]?.description, ...shape };
}

const orPlaceholder = (schema: Json): Json =>
  schema.type === "string" && schema.enum === undefined
    ? schema
    : { anyOf: [schema, { type: "string", pattern: "\\{\\{" }] };

/** Steps, or the object form of an edge. */
const waySchema: Json = { anyOf: [...listed(ofTests("step")), ref("edge")] };

function appSchema(): Json {
  const check = ofTests("step");
  const { properties } = propertiesOf(userInterfaceSchema);
  const edge = { ...valueObject(edgeValueSchema, ["steps", "back", "retry", "failure", "kpi"]) };
  const ends = { from: { type: "string" }, to: { type: "string" } };
  return {
    $schema: dialect,
    title: "An app of Labwright with its tests",
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: {
      format_version: { const: 1 },
      ...properties,
      entry: { const: false, description: "No entry is implied where no node is one." },
      ...{ nodes: ref("nodes"), edges: ref("edges") },
      tests: { ...listOf(ofTests("test")), description: "Tests of this app." },
      references: listOf(schemaJson(referenceDocumentSchema)),
      tree: { type: "object", description: "The old form of nodes and edges." },
      testcases: { ...listOf({ type: "object" }), description: "The old name of tests." },
    },
    $defs: {
      nodes: {
        type: "object",
        description: "The places of the app by name, each with the checks that prove it.",
        additionalProperties: { anyOf: [...listed(check), ref("node")] },
      },
      node: valueObject(nodeValueSchema, ["checks"]),
      edges: {
        description: 'How to get from a place to another: "FROM -> TO" to steps.',
        anyOf: [
          { type: "object", additionalProperties: waySchema },
          listOf({ ...edge, properties: { ...Object(edge.properties), ...ends }, required: ["from", "to"] }),
        ],
      },
      edge,
    },
  };
}

/** The object form of a node or an edge, with steps where the schema itself says nothing. */
function valueObject(schema: z.ZodObject, steps: readonly string[]): Json {
  const { properties } = propertiesOf(schema);
  const own = Object.entries(properties).filter(([key]) => !["nodes", "edges", ...steps].includes(key));
  const nested = Object.keys(properties).filter((key) => key === "nodes" || key === "edges");
  return {
    type: "object",
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(own),
      ...Object.fromEntries(
        steps.map((key) => [key, key === "back" ? waySchema : { anyOf: listed(ofTests("step")) }]),
      ),
      ...Object.fromEntries(nested.map((key) => [key, ref(key)])),
    },
  };
}

const objectJson = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
});
const propertiesOf = (schema: z.ZodObject) => objectJson.parse(schemaJson(schema));
