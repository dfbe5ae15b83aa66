import { z } from "zod";
import type { Source } from "../../../config/source.ts";
import {
  type ApiOperation,
  type ApiSpec,
  labelSchema,
  type Params,
  paramsSchema,
} from "../../../domain/index.ts";
import { schemaProblems } from "../../../domain/schemaProblems.ts";
import { ToolError } from "../../../errors.ts";
import { createUploads, type Uploads } from "../../policy/uploads.ts";
import { projectInUse } from "../../records/inUse.ts";
import { compileExpression } from "../../values/expressions.ts";
import { readYamlSource } from "../../values/yamlSource.ts";
import { namedParameters } from "../apis/requests/operationRequest.ts";
import { isObject } from "../apis/spec/reader.ts";
import type { Good, Judge } from "./goodRequest.ts";
import { conditionOf, type Generated, sequence } from "./graphs.ts";
import type { Ask } from "./types.ts";
import { headOf, requestIn, setupAsk, type World } from "./world.ts";

const roleSchema = z.record(z.string().min(1), z.string().max(4_000));
const blockId = z.string().regex(/^[A-Za-z_]\w{0,79}$/, "letters, digits and _, first a letter");

const callSchema = z.strictObject({
  id: blockId,
  operation: z.string().min(1),
  /** By name. `{{id.output.body.x}}` is a part of an earlier reply. */
  params: paramsSchema.default({}),
  /** Made from the description where it is left out. */
  body: z.unknown().optional(),
  /** A role of `auth`; the first one where it is left out. */
  as: z.string().min(1).optional(),
});

const ruleSchema = z.strictObject({
  name: labelSchema,
  calls: z.array(callSchema).min(1).max(20),
  /** CEL over the replies: `id.output.status`, `id.output.body`, `id.output.headers`. */
  holds: z.string().min(1).max(2_000),
});

const fileSchema = z.strictObject({
  base_url: z.string().max(2_000).optional(),
  auth: z.record(z.string().min(1).max(80), roleSchema).default({}),
  operations: z
    .record(
      z.string(),
      z.strictObject({
        priority: z.string().max(40).optional(),
        /** Of good requests, by name. */
        params: paramsSchema.default({}),
        body: z.unknown().optional(),
        skip: z.boolean().default(false),
      }),
    )
    .default({}),
  rules: z.array(ruleSchema).max(100).default([]),
});
/** What the user knows of an API that its document does not say. */
export type OwnTests = z.output<typeof fileSchema>;
export const noOwnTests: OwnTests = { auth: {}, operations: {}, rules: [] };

/**
 * Reads a YAML file of the project in use, or of the uploads folder. Throws INVALID_INPUT with every problem and its line, and
 * PATH_DENIED.
 */
export async function readOwnTests(file: string, spec: ApiSpec, uploads: Uploads): Promise<OwnTests> {
  if (!/\.ya?ml$/i.test(file)) throw invalid(file, ["it is not a .yaml file"]);
  const source = await readYamlSource(file, await textOf(file, uploads));
  const parsed = fileSchema.safeParse(source.value);
  const lines = source.problems.map(lineOf);
  if (!parsed.success) {
    const problems = schemaProblems(parsed.error.issues, fileSchema);
    lines.push(...problems.map(({ path, message, key }) => lineOf(source.problem(path, message, key))));
  } else lines.push(...(await contentProblems(parsed.data, spec, source)));
  if (lines.length > 0 || !parsed.success) throw invalid(file, lines);
  return parsed.data;
}

async function textOf(file: string, uploads: Uploads): Promise<string> {
  const project = projectInUse();
  if (project === "") return uploads.readText(file);
  return createUploads(project)
    .readText(file)
    .catch((error: unknown) => uploads.readText(file).catch(() => Promise.reject(error)));
}

const lineOf = ({ line, column, path, message }: Source["problems"][number]): string =>
  `${line}:${column} ${path === "" ? "" : `${path}: `}${message}`;

const invalid = (file: string, problems: readonly string[]) =>
  new ToolError(
    "INVALID_INPUT",
    `${file} cannot be used: ${problems.slice(0, 20).join("; ")}.`,
    "Correct the lines that are named; docs/api-tests.md has an example.",
    { problems },
  );

/** Unknown operations, parameters and roles, and expressions that cannot be read. */
async function contentProblems(own: OwnTests, spec: ApiSpec, source: Source): Promise<string[]> {
  const lines: string[] = [];
  const add = (path: readonly PropertyKey[], message: string) =>
    lines.push(lineOf(source.problem(path, message)));
  const check = (path: readonly PropertyKey[], name: string, params: Params) => {
    const operation = spec.operations.find(({ id }) => id === name);
    if (!operation) return add(path, `${spec.name} has no operation "${name}"`);
    const unknown = Object.keys(params).filter(
      (key) => !operation.parameters.some((one) => one.name === key),
    );
    if (unknown.length > 0) add([...path, "params"], `${name} has no parameter ${unknown.join(", ")}`);
  };
  for (const [name, { params }] of Object.entries(own.operations)) check(["operations", name], name, params);
  for (const [at, { calls, holds }] of own.rules.entries()) {
    for (const [index, { operation, params, as }] of calls.entries()) {
      check(["rules", at, "calls", index], operation, params);
      if (as !== undefined && !(as in own.auth))
        add(["rules", at, "calls", index, "as"], `auth has no role "${as}"`);
    }
    await compileExpression(holds).catch((error: unknown) => add(["rules", at, "holds"], String(error)));
  }
  return lines;
}

/** The good request with the user's own values. */
export async function withOwnValues(
  good: Good,
  operation: ApiOperation,
  own: OwnTests,
  judge: Judge,
): Promise<Good> {
  const wanted = own.operations[operation.id];
  if (!wanted) return good;
  const named = namedParameters(operation, { ...pathValues(operation, good), ...wanted.params });
  const { values, all, bodySchema } = good;
  const body = wanted.body === undefined ? values.body : wanted.body;
  const isSound = wanted.body === undefined ? good.isSound : (await judge(bodySchema, body)) === true;
  const parameters = { ...values.parameters, ...named };
  return { ...good, isSound, all: { ...all, ...named }, values: { ...values, parameters, body } };
}

/** `namedParameters` asks for those of the path. */
const pathValues = ({ parameters }: ApiOperation, { all }: Good) =>
  Object.fromEntries(
    parameters.flatMap(({ in: place, name }) => (place === "path" ? [[name, all[`path.${name}`]]] : [])),
  );

/** A test for each rule: its calls, and then the rule. */
export async function ruleTests(own: OwnTests, world: World): Promise<Generated[]> {
  return Promise.all(own.rules.map((rule) => ruleTest(rule, world)));
}

async function ruleTest({ name, calls, holds }: OwnTests["rules"][number], world: World): Promise<Generated> {
  const asks: Ask[] = [];
  let operationId = "";
  for (const [at, call] of calls.entries()) {
    const operation = world.spec.operations.find(({ id }) => id === call.operation);
    if (!operation) continue;
    operationId = operation.id;
    const good = await world.goodOf(operation, 20 + at);
    const params = { ...pathValues(operation, good), ...Object(templates(call.params)) };
    const parameters = { ...good.values.parameters, ...namedParameters(operation, params) };
    const body = call.body === undefined ? good.values.body : templates(call.body);
    const sent = { values: { ...good.values, body, parameters }, ...(call.as && { role: call.as }) };
    const request = requestIn(operation, sent, world);
    const checks = [{ status: ["2xx", "3xx", "4xx"] }];
    asks.push(setupAsk(call.id, `${name}: ${call.id}`, operation, request, checks));
  }
  const said = { label: name, operation: operationId, fault: "F904", field: "rule" } as const;
  return sequence(headOf(world, name), operationId, [...asks, conditionOf("rule_holds", holds, said)]);
}

/** Texts with a placeholder are filled in when the request is sent. */
function templates(value: unknown): unknown {
  if (typeof value === "string") return value.includes("{{") ? () => value : value;
  if (Array.isArray(value)) return value.map(templates);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, templates(part)]))
    : value;
}
