import { describeIssue, offer } from "../nearest.ts";
import { readSource, type SkillProblem, type Source } from "../source.ts";
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
type Problem = [path: Path, message: string];

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
  const file = read(tree, treeSchema, "a decision tree");
  const mapped = mappings === undefined ? undefined : read(mappings, mappingsSchema, "the API mappings");
  const given = mapped === undefined ? mappingsSchema.parse({ mappings: {} }) : mapped.data;
  const problems = [...file.problems, ...(mapped?.problems ?? [])];
  if (file.data !== undefined) problems.push(...at(file.source, checkTree(file.data, given, known)));
  if (mapped?.data !== undefined) problems.push(...at(mapped.source, checkMappings(mapped.data, known)));
  problems.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file === tree.file ? -1 : 1));
  if (file.data === undefined || given === undefined || problems.length > 0) return { problems };
  return { tree: { ...file.data, mappings: given, rules }, problems };
}

type Read<Data> = { source?: Source; data?: Data | undefined; problems: SkillProblem[] };

function read<Schema extends typeof treeSchema | typeof mappingsSchema>(
  { file, text }: TreeText,
  schema: Schema,
  what: string,
): Read<ReturnType<Schema["parse"]>>;
function read(
  { file, text }: TreeText,
  schema: typeof treeSchema | typeof mappingsSchema,
  what: string,
): Read<unknown> {
  const source = readSource(text, file);
  if (Array.isArray(source)) return { problems: source };
  const parsed = schema.safeParse(source.value);
  const issues = parsed.error?.issues ?? [];
  return {
    source,
    data: parsed.data,
    problems: issues.flatMap((issue) => describeIssue(issue, source, what, schema)),
  };
}

const at = (source: Source | undefined, problems: readonly Problem[]): SkillProblem[] =>
  source === undefined
    ? []
    : problems.map(([path, message]) => source.problemAt(path, `${path.join(".")}: ${message}`));

function checkTree(tree: TreeFile, mappings: Mappings | undefined, known: KnownNames): Problem[] {
  const steps = Object.keys(tree.steps);
  const checkStepName = (name: string, path: Path): Problem[] =>
    steps.includes(name) ? [] : [[path, `no step is called ${name}${offer(name, steps)}`]];
  return [
    ...checkStepName(tree.entry_point, ["entry_point"]),
    ...tree.parallel_checks.flatMap((name, index) => checkStepName(name, ["parallel_checks", index])),
    ...checkParallel(tree),
    ...Object.entries(tree.steps).flatMap(([name, step]) => [
      ...checkStep(step, ["steps", name], mappings, known),
      ...namesOfSteps(step).flatMap(([text, below]) => checkStepName(text, ["steps", name, ...below])),
      ...Object.entries(step.decisions).flatMap(([decision, { next_step }]) =>
        next_step === null
          ? []
          : checkStepName(next_step, ["steps", name, "decisions", decision, "next_step"]),
      ),
    ]),
  ];
}

/** Steps whose results are read, and where. */
function namesOfSteps({ pre_conditions, decisions, action }: TreeStep): [name: string, below: Path][] {
  const texts: [text: string, below: Path][] = [
    ...pre_conditions.map((text, index): [string, Path] => [text, ["pre_conditions", index]]),
    ...Object.entries(decisions).map(([name, { condition }]): [string, Path] => [
      condition,
      ["decisions", name, "condition"],
    ]),
    [[...JSON.stringify(action).matchAll(/\{steps\.\w+/g)].join(" "), ["action"]],
  ];
  return texts.flatMap(([text, below]) =>
    [...text.matchAll(/(?<![\w.'"])steps\.(\w+)/g)].map(([, name = ""]): [string, Path] => [name, below]),
  );
}

const checkParallel = ({ parallel_checks: checks, entry_point }: TreeFile): Problem[] =>
  checks.flatMap((name, index) =>
    name === entry_point || checks.indexOf(name) < index || name === "main"
      ? [[["parallel_checks", index], `${name} runs already, or has a name of its own meaning`] as Problem]
      : [],
  );

function checkStep(step: TreeStep, path: Path, mappings: Mappings | undefined, known: KnownNames): Problem[] {
  const check = (condition: string, below: Path): Problem[] => {
    const problem = known.checkExpression?.(condition);
    return problem === undefined ? [] : [[[...path, ...below], problem]];
  };
  const { action } = step;
  const actions =
    action.type === "parallel"
      ? Object.entries(action.actions).map(([name, one]) => [one, ["action", "actions", name]] as const)
      : [[action, ["action"]] as const];
  return [
    ...step.pre_conditions.flatMap((condition, index) => check(condition, ["pre_conditions", index])),
    ...Object.entries(step.decisions).flatMap(([name, { condition }]) =>
      check(condition, ["decisions", name, "condition"]),
    ),
    ...actions.flatMap(([one, below]) => checkAction(one, [...path, ...below], mappings, known)),
  ];
}

function checkAction(
  action: SimpleTreeAction,
  path: Path,
  mappings: Mappings | undefined,
  { tools, sources }: KnownNames,
): Problem[] {
  if (action.type === "tool")
    return tools.has(action.tool)
      ? []
      : [[[...path, "tool"], `no tool is called ${action.tool}${offer(action.tool, tools)}`]];
  const { source, mapping } = action;
  const unknownSource: Problem[] =
    source === undefined || sources.has(source)
      ? []
      : [[[...path, "source"], `no data source is called ${source}${offer(source, sources)}`]];
  if (mapping === undefined || mappings === undefined) return unknownSource;
  const names = Object.keys(mappings.mappings);
  if (!names.includes(mapping))
    return [
      ...unknownSource,
      [[...path, "mapping"], `no mapping is called ${mapping}${offer(mapping, names)}`],
    ];
  const problem = mappingProblem(action, mapping, mappings, sources);
  return problem === undefined ? unknownSource : [...unknownSource, [[...path, "mapping"], problem]];
}

/** What a mapping that a step uses lacks. */
function mappingProblem(
  action: Exclude<SimpleTreeAction, { type: "tool" }>,
  name: string,
  { mappings, queries, builders, requests, parsers }: Mappings,
  sources: ReadonlySet<string>,
): string | undefined {
  const mapping = mappings[name];
  if (mapping === undefined) return undefined;
  const { api, query, query_builder: builder, request, response_parser: parser } = mapping;
  const missing = (list: string, key: string | undefined, known: object) =>
    key !== undefined && !Object.hasOwn(known, key)
      ? `${name} names ${key}, which is not in ${list}`
      : undefined;
  if (action.source === undefined && !sources.has(api))
    return `${name} asks ${api}, which is not in data_sources${offer(api, sources)}`;
  const hasOwn =
    action.type === "query" ? (action.query_template ?? query ?? builder) : (action.path ?? request);
  if (hasOwn === undefined)
    return `${name} names no ${action.type === "query" ? "query or query_builder" : "request"}`;
  return (
    missing("queries", query, queries) ??
    missing("builders", builder, builders) ??
    missing("requests", request, requests) ??
    missing("parsers", parser, parsers)
  );
}

function checkMappings({ mappings, builders, parsers, item_types }: Mappings, known: KnownNames): Problem[] {
  const sqlOfBuilders = Object.entries(builders).flatMap(([name, pieces]): Problem[] => {
    const problem = bindProblem(joinPieces(pieces, () => true));
    return problem === undefined ? [] : [[["builders", name], problem]];
  });
  const expressions = Object.entries(parsers).flatMap(([name, expression]): Problem[] => {
    const problem = known.checkExpression?.(expression);
    return problem === undefined ? [] : [[["parsers", name], problem]];
  });
  const types = Object.keys(item_types);
  const itemTypes = Object.entries(mappings).flatMap(([name, { response_schema: schema }]): Problem[] => {
    const type = schema?.type === "array" ? schema.item_type : undefined;
    // Without any item types the names of them only say what a reader may expect.
    if (type === undefined || types.length === 0 || types.includes(type)) return [];
    const path = ["mappings", name, "response_schema", "item_type"];
    return [[path, `no item type is called ${type}${offer(type, types)}`]];
  });
  return [...sqlOfBuilders, ...expressions, ...itemTypes];
}
