import { mostProblems, offer, parseFile } from "../nearest.ts";
import type { SkillProblem, Source } from "../source.ts";
import { joinPieces } from "./fill.ts";
import {
  type DecisionTree,
  type HandoffRules,
  type Mappings,
  mappingsSchema,
  type SimpleTreeAction,
  type TreeFile,
  type TreeStep,
  treeSchema,
} from "./schema.ts";
import { bindProblem } from "./sql.ts";

export type TreeText = { file: string; text: string };

/** What the names in a tree may be. */
export type KnownNames = {
  tools: ReadonlySet<string>;
  /** Those of the skill's data_sources and of its `apis`. */
  sources: ReadonlySet<string>;
  /** Says what is wrong with a CEL expression. Without it only the brackets and quotes are checked. */
  checkExpression?: ((expression: string) => string | undefined) | undefined;
};

type Path = readonly PropertyKey[];
/** `nearest`: an unknown name and those that are known; the nearest of them is looked for only when the problem is reported. */
type Problem = [path: Path, message: string, nearest?: [wanted: string, known: Iterable<string>]];

/**
 * Parses a `decision_tree.yaml` with its `api_mappings.yaml`; a tree only when nothing is wrong with either. All problems of both
 * come at once, with their lines.
 */
export function parseTree(
  tree: TreeText,
  mappings: TreeText | undefined,
  rules: HandoffRules,
  known: KnownNames,
): { tree?: DecisionTree; problems: SkillProblem[] } {
  const file = parseFile(tree, "a decision tree", treeSchema);
  const none = { file: tree.file, text: "mappings: {}" };
  const mapped = parseFile(mappings ?? none, "the API mappings", mappingsSchema);
  const problems = [
    ...file.problems,
    ...mapped.problems,
    ...at(file.source, file.data ? checkTree(file.data, mapped.data, known) : []),
    ...at(mapped.source, mapped.data ? checkMappings(mapped.data, known) : []),
  ].sort((a, b) => (a.file === b.file ? a.line - b.line : a.file === tree.file ? -1 : 1));
  if (!file.data || !mapped.data || problems.length > 0) return { problems };
  return { tree: { ...file.data, mappings: mapped.data, rules }, problems };
}

const at = (source: Source | undefined, problems: readonly Problem[]): SkillProblem[] =>
  problems.slice(0, mostProblems).flatMap(([path, message, nearest]) => {
    const end = nearest === undefined ? "" : offer(...nearest);
    return source?.problemAt(path, `${path.join(".")}: ${message}${end}`) ?? [];
  });

function checkTree(tree: TreeFile, mappings: Mappings | undefined, known: KnownNames): Problem[] {
  const steps = Object.keys(tree.steps);
  const checkName = (name: string | null, ...path: Path): Problem[] =>
    name === null || Object.hasOwn(tree.steps, name)
      ? []
      : [[path, `no step is called ${name}`, [name, steps]]];
  return [
    ...checkName(tree.entry_point, "entry_point"),
    ...tree.parallel_checks.flatMap((name, index) => checkName(name, "parallel_checks", index)),
    ...checkParallel(tree),
    ...Object.entries(tree.steps).flatMap(([name, step]) => [
      ...checkStep(step, ["steps", name], mappings, known),
      ...stepsReadBy(step).flatMap(([text, ...below]) => checkName(text, "steps", name, ...below)),
      ...Object.entries(step.decisions).flatMap(([decision, { next_step }]) =>
        checkName(next_step, "steps", name, "decisions", decision, "next_step"),
      ),
    ]),
  ];
}

type Place = [text: string, ...below: Path];

const conditionsOf = ({ pre_conditions, decisions }: TreeStep): Place[] => [
  ...pre_conditions.map((text, index): Place => [text, "pre_conditions", index]),
  ...Object.entries(decisions).map(
    ([name, { condition }]): Place => [condition, "decisions", name, "condition"],
  ),
];

/** Steps whose results are read, and where. */
function stepsReadBy(step: TreeStep): Place[] {
  const placeholders = [...JSON.stringify(step.action).matchAll(/\{steps\.\w+/g)].join(" ");
  const texts: Place[] = [...conditionsOf(step), [placeholders, "action"]];
  return texts.flatMap(([text, ...below]) =>
    [...text.matchAll(/(?<![\w.'"])steps\.(\w+)/g)].map(([, name = ""]): Place => [name, ...below]),
  );
}

const checkParallel = ({ parallel_checks: checks, entry_point }: TreeFile): Problem[] =>
  checks.flatMap((name, index) =>
    name === entry_point || checks.indexOf(name) < index || name === "main"
      ? [[["parallel_checks", index], `${name} runs already, or has a name of its own meaning`] as Problem]
      : [],
  );

function checkStep(step: TreeStep, path: Path, mappings: Mappings | undefined, known: KnownNames): Problem[] {
  const { action } = step;
  const actions: [SimpleTreeAction, Path][] =
    action.type === "parallel"
      ? Object.entries(action.actions).map(([name, one]) => [one, ["action", "actions", name]])
      : [[action, ["action"]]];
  return [
    ...conditionsOf(step).flatMap(([text, ...below]) => checkExpression(text, [...path, ...below], known)),
    ...actions.flatMap(([one, below]) => checkAction(one, [...path, ...below], mappings, known)),
  ];
}

const checkExpression = (expression: string, path: Path, known: KnownNames): Problem[] => {
  const problem = known.checkExpression?.(expression);
  return problem === undefined ? [] : [[path, problem]];
};

function checkAction(
  action: SimpleTreeAction,
  path: Path,
  mappings: Mappings | undefined,
  { tools, sources }: KnownNames,
): Problem[] {
  if (action.type === "tool")
    return tools.has(action.tool)
      ? []
      : [[[...path, "tool"], `no tool is called ${action.tool}`, [action.tool, tools]]];
  const { source, mapping } = action;
  const problems: Problem[] = [];
  if (source !== undefined && !sources.has(source))
    problems.push([[...path, "source"], `no data source is called ${source}`, [source, sources]]);
  if (mapping === undefined || mappings === undefined) return problems;
  return [...problems, ...mappingProblem(action, mapping, mappings, sources, [...path, "mapping"])];
}

/** What is wrong with the mapping of a step; one problem at most. */
function mappingProblem(
  action: Exclude<SimpleTreeAction, { type: "tool" }>,
  name: string,
  { mappings, queries, builders, requests, parsers }: Mappings,
  sources: ReadonlySet<string>,
  path: Path,
): Problem[] {
  const mapping = Object.hasOwn(mappings, name) ? mappings[name] : undefined;
  if (mapping === undefined) return [[path, `no mapping is called ${name}`, [name, Object.keys(mappings)]]];
  const { api, query, query_builder: builder, request, response_parser: parser } = mapping;
  const missing = (list: string, key: string | undefined, known: object) =>
    key !== undefined && !Object.hasOwn(known, key)
      ? `${name} names ${key}, which is not in ${list}`
      : undefined;
  if (action.source === undefined && !sources.has(api))
    return [[path, `${name} asks ${api}, which is not in data_sources`, [api, sources]]];
  const hasOwn =
    action.type === "query" ? (action.query_template ?? query ?? builder) : (action.path ?? request);
  if (hasOwn === undefined)
    return [[path, `${name} names no ${action.type === "query" ? "query or query_builder" : "request"}`]];
  const problem =
    missing("queries", query, queries) ??
    missing("builders", builder, builders) ??
    missing("requests", request, requests) ??
    missing("parsers", parser, parsers);
  return problem === undefined ? [] : [[path, problem]];
}

function checkMappings({ mappings, builders, parsers, item_types }: Mappings, known: KnownNames): Problem[] {
  const sqlOfBuilders = Object.entries(builders).flatMap(([name, pieces]): Problem[] => {
    const problem = bindProblem(joinPieces(pieces, () => true));
    return problem === undefined ? [] : [[["builders", name], problem]];
  });
  const expressions = Object.entries(parsers).flatMap(([name, expression]) =>
    checkExpression(expression, ["parsers", name], known),
  );
  const types = Object.keys(item_types);
  const itemTypes = Object.entries(mappings).flatMap(([name, { response_schema: schema }]): Problem[] => {
    const type = schema?.type === "array" ? schema.item_type : undefined;
    // Without any item types the names of them only say what a reader may expect.
    if (type === undefined || types.length === 0 || types.includes(type)) return [];
    const path = ["mappings", name, "response_schema", "item_type"];
    return [[path, `no item type is called ${type}`, [type, types]]];
  });
  return [...sqlOfBuilders, ...expressions, ...itemTypes];
}
