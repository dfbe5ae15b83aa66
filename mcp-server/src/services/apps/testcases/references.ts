import { nearest } from "@labwright/controllers";
import type { Block, Params, TestCaseInput } from "../../../domain/index.ts";
import { didYouMean } from "../../../domain/schemaProblems.ts";
import { compileExpression } from "../../values/expressions.ts";
import { placeholdersIn, rootOf } from "../../values/placeholders.ts";
import { allBlocks, isMarker } from "./graph.ts";
import { problemOf } from "./parse.ts";
import type { Types } from "./scope.ts";
import type { Problem } from "./types.ts";

/** Names with a fixed meaning: the app, the environment's variables, the innermost loop, secrets. */
const reserved = ["app", "env", "loop", "secret"] as const;

type Names = { values: ReadonlySet<string>; blocks: ReadonlySet<string> };

/** Names in placeholders and expressions that are unknown, used twice, or not allowed there. */
export async function referenceProblems(testcase: TestCaseInput, appVariables: Params): Promise<Problem[]> {
  // Markers hold no data, so their ids may repeat in each body.
  const blocks = allBlocks(testcase).filter(({ block }) => !isMarker(block));
  const inputs = new Set(testcase.inputs.map(({ name }) => name));
  const own = [...testcase.inputs.map(({ name }) => name), ...Object.keys(testcase.variables)];
  const assigned = blocks.flatMap(({ block }) => assignedBy(block));
  const names: Names = {
    values: new Set([...own, ...assigned, ...Object.keys(appVariables), "app", "env"]),
    blocks: new Set(blocks.map(({ block }) => block.id)),
  };
  const beforeRun: Names = {
    values: new Set([...inputs, ...Object.keys(appVariables), "app", "env"]),
    blocks: new Set(),
  };
  const rows = typeof testcase.for_each === "string" ? testcase.for_each : undefined;
  return [
    ...nameClashes(own, assigned, blocks),
    ...typeProblems(testcase.types ?? {}, [...own, ...assigned]),
    ...(await placeholderProblems(testcase.variables, beforeRun, false, "variables")),
    ...(await placeholderProblems(rows, beforeRun, false, "for_each")),
    ...(
      await Promise.all(blocks.map(({ block, path, inLoop }) => blockProblems(block, names, inLoop, path)))
    ).flat(),
    ...(await outputProblems(testcase.outputs, names)),
  ];
}

function typeProblems(types: Types, names: readonly string[]): Problem[] {
  const unknown = Object.keys(types).filter((name) => !names.includes(name));
  return unknown.map((name) => {
    const message = `no input and no variable is called "${name}"${didYouMean(name, names)}`;
    return { path: "types", code: "UNKNOWN_VARIABLE", message };
  });
}

function assignedBy(block: Block): string[] {
  if (block.type === "set") return Object.keys(block.values);
  return block.type === "action" && block.into !== undefined ? [block.into] : [];
}

function nameClashes(
  own: readonly string[],
  assigned: readonly string[],
  blocks: readonly { block: Block; path: string }[],
): Problem[] {
  const ids = blocks.map(({ block }) => block.id);
  const values = new Set([...own, ...assigned]);
  const problem = (path: string, message: string): Problem => ({ path, code: "TESTCASE_INVALID", message });
  return [
    ...repeated(own).map((index) => problem("", `"${own[index]}" is declared twice`)),
    ...repeated(ids).map((index) =>
      problem(blocks[index]?.path ?? "", `the block id "${ids[index]}" is used twice`),
    ),
    ...blocks
      .filter(({ block }) => values.has(block.id))
      .map(({ block, path }) => problem(path, `"${block.id}" is a variable and a block id`)),
    ...reserved
      .filter((name) => values.has(name) || ids.includes(name))
      .map((name) => problem("", `"${name}" has a meaning of its own; choose another name`)),
  ];
}

/** Indices of what is in the list earlier too. */
const repeated = (names: readonly string[]) =>
  names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []));

async function blockProblems(block: Block, names: Names, inLoop: boolean, path: string): Promise<Problem[]> {
  const problems = await placeholderProblems(templatesOf(block), names, inLoop, path);
  const expression = expressionOf(block);
  if (expression !== undefined)
    problems.push(...(await expressionProblems(expression, names, inLoop || block.type === "loop", path)));
  return problems;
}

function templatesOf(block: Block): unknown {
  switch (block.type) {
    case "navigation":
      return block.target;
    case "action":
      return [block.params, block.retry_actions, block.failure_actions];
    case "verification":
      return block.params;
    case "set":
      return block.values;
    case "api_request":
      return requestTemplates(block);
    case "call_testcase":
      return block.inputs;
    case "script":
      return block.args;
    default:
      return undefined;
  }
}

/** A schema's braces are its own, unless it is one placeholder. */
function requestTemplates({ checks, ...block }: Extract<Block, { type: "api_request" }>): unknown {
  const { url, headers, body, form, multipart, body_file } = block;
  const templates = checks.map(({ json_schema, ...check }) =>
    typeof json_schema === "string" ? [check, json_schema] : check,
  );
  return [url, headers, body, form, multipart, body_file, templates];
}

function expressionOf(block: Block): string | undefined {
  if (block.type === "condition") return block.expression;
  return block.type === "loop" ? block.while : undefined;
}

async function expressionProblems(
  source: string,
  names: Names,
  inLoop: boolean,
  path: string,
): Promise<Problem[]> {
  try {
    const { names: used } = await compileExpression(source);
    const unknown = used.filter((name) => !isKnown(name, names, inLoop));
    return unknown.map((name) => unknownName(name, names, path));
  } catch (error) {
    return [problemOf(error, path, { withHint: false })];
  }
}

async function placeholderProblems(
  value: unknown,
  names: Names,
  inLoop: boolean,
  path: string,
): Promise<Problem[]> {
  const found = placeholdersIn(value).map((one) => placeholderProblem(one, names, inLoop, path));
  return (await Promise.all(found)).flat();
}

async function placeholderProblem(
  placeholder: string,
  names: Names,
  inLoop: boolean,
  path: string,
): Promise<Problem[]> {
  const root = rootOf(placeholder);
  if (root === undefined) return expressionProblems(placeholder, names, inLoop, path);
  if (!isKnown(root, names, inLoop)) {
    // A hyphen is part of a name, or a minus.
    const isMinus =
      placeholder.includes("-") && (await expressionProblems(placeholder, names, inLoop, path)).length === 0;
    return isMinus ? [] : [unknownName(placeholder, names, path)];
  }
  if (!names.blocks.has(root) || /^[\w-]+\.output\b/.test(placeholder)) return [];
  const message = `{{${placeholder}}} is a block; its data is {{${root}.output}}`;
  return [{ path, code: "UNKNOWN_VARIABLE", message }];
}

function isKnown(name: string, { values, blocks }: Names, inLoop: boolean): boolean {
  return name === "loop" ? inLoop : values.has(name) || blocks.has(name);
}

function unknownName(name: string, { values, blocks }: Names, path: string): Problem {
  const root = rootOf(name) ?? name;
  const message = `nothing is known as {{${name}}}`;
  if (root === "loop") return { path, code: "UNKNOWN_VARIABLE", message: `${message} outside a loop` };
  const [near] = nearest(root, [...values, ...blocks], 1);
  return { path, code: "UNKNOWN_VARIABLE", message: near ? `${message}; did you mean ${near}?` : message };
}

/** An output is a variable's name or a text with placeholders. */
async function outputProblems(outputs: Readonly<Record<string, string>>, names: Names): Promise<Problem[]> {
  const found = Object.entries(outputs).map(async ([name, value]) => {
    const path = `outputs.${name}`;
    if (placeholdersIn(value).length > 0) return placeholderProblems(value, names, false, path);
    return names.values.has(value) ? [] : [unknownName(value, names, path)];
  });
  return (await Promise.all(found)).flat();
}
