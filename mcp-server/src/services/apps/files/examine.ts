import type { Node, Step } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { buildGraph, costsFrom } from "../navigation/graph.ts";
import { appNameOf, isFields, noNames, type Path, type Verbs } from "../steps/index.ts";
import type { TestcaseService } from "../testcases/index.ts";
import { type AppView, appView } from "../userinterfaces/index.ts";
import { type AppModel, findEntry } from "../userinterfaces/model.ts";
import { type FileRead, giveOnlyApp, readYaml } from "./importYaml.ts";
import { partsOfWords } from "./partsOfWords.ts";
import { type Problems, problemsIn, textOf } from "./problems.ts";

export type FileText = { file: string; yaml: string };
/** `weak` runs, but proves or reaches less than it seems to. Lines and columns count from 1. */
export type Finding = { file: string; line: number; column: number; message: string; weak?: true };
/** `unchecked` are tests of apps whose own files are wrong. Findings are in the order of the files and their lines. */
export type Examination = { findings: Finding[]; apps: number; tests: number; unchecked: number };

type Examining = {
  verbs: Verbs;
  testcases: Pick<TestcaseService, "problemsIn">;
  /** The steps of the last run of a test, by its name. */
  lastSteps(test: string): Promise<readonly Step[]>;
  /** An app that is stored, for features that name none. */
  app?: string | undefined;
};
type Examined = { file: string; read?: FileRead; problems: Problems };
type Listed = { file: string; value: unknown; path: Path; problems: Problems };

/** Reads files as an import of all of them would, and returns everything that is wrong with them. */
export async function examineFiles(
  files: readonly FileText[],
  { verbs, testcases, lastSteps, app }: Examining,
): Promise<Examination> {
  const examined = await Promise.all(files.map((file) => readFile(file, verbs)));
  const apps = examined.flatMap(({ read }) => (read?.model ? [appView(read.model)] : []));
  const broken = new Set(examined.flatMap(({ read, problems }) => (read ? [] : nameOf(problems.value))));
  const reads = examined.flatMap(({ file, read }) => (read ? [{ ...read, file }] : []));
  giveOnlyApp(reads, [...broken, ...(app === undefined ? [] : [app])]);
  const all = examined.flatMap(({ file, read, problems }) =>
    (read?.tests ?? []).map(({ value, path }): Listed => ({ file, value, path, problems })),
  );
  const tests = all.filter(({ value }) => !broken.has(appNameOf(value) ?? ""));
  const findings = distinct([
    ...examined.flatMap(ofFile),
    ...sameNames(examined, all),
    ...(await ofTests(tests, { testcases, apps, names: all.flatMap(({ value }) => nameOf(value)) })),
    ...(await Promise.all(tests.map((test) => ofLastRun(test, verbs, lastSteps)))).flat(),
  ]);
  const order = new Map(files.map(({ file }, index) => [file, index]));
  findings.sort(
    (a, b) => (order.get(a.file) ?? 0) - (order.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
  return { findings, apps: apps.length, tests: all.length, unchecked: all.length - tests.length };
}

/** A step of a background is read for each of its scenarios. */
const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(
    findings.map((one) => [JSON.stringify([one.file, one.line, one.column, one.message]), one]),
  ).values(),
];

async function readFile({ file, yaml }: FileText, verbs: Verbs): Promise<Examined> {
  const problems = await problemsIn(yaml, file);
  try {
    return { file, read: readYaml({ verbs, file, problems }), problems };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (problems.lines.length === 0) problems.add([], `${error.message} ${error.hint}`);
    return { file, problems };
  }
}

function ofFile({ file, read, problems }: Examined): Finding[] {
  const wrong = problems.lines.map(({ line, column, path, message }) => ({
    ...{ file, line, column },
    message: path === "" ? message : `${path}: ${message}`,
  }));
  if (!read?.model) return wrong;
  const weak = weaknessesOf(read.model).map(({ node, message }): Finding => {
    const path = read.nodePlaces.get(node.id) ?? [];
    return { file, ...problems.placeOf(...keyOf(path)), message, weak: true };
  });
  return [...wrong, ...weak];
}

function weaknessesOf(model: AppModel): { node: Node; message: string }[] {
  const rows = { trees: model.trees.values(), nodes: model.nodes.values(), edges: model.edges.values() };
  const entry = findEntry(model);
  const reached = entry && costsFrom(buildGraph(rows), entry.id);
  return [...model.nodes.values()].flatMap((node) => {
    const { id, label, type, verifications } = node;
    const isPlace = type !== "entry" && type !== "action";
    const unproven = `"${label}" has no check, so that nothing says whether it was reached`;
    const lost = `no edges lead from the entry to "${label}", so that neither it nor the edges that begin there can be reached`;
    return [
      ...(isPlace && verifications.length === 0 ? [{ node, message: unproven }] : []),
      ...(reached?.has(id) === false ? [{ node, message: lost }] : []),
    ];
  });
}

/** Places a later finding at the label, not at its value. */
function keyOf(path: Path): [Path, string?] {
  const label = path.at(-1);
  return typeof label === "string" ? [path.slice(0, -1), label] : [path];
}

/** Apps or tests of one name: the later one would replace the earlier one. */
function sameNames(examined: readonly Examined[], tests: readonly Listed[]): Finding[] {
  const apps = examined.map(({ file, problems, read }) => ({
    ...{ file, problems, path: ["name"], kind: "app" },
    name: read?.model?.ui.name,
  }));
  const named = tests.map(({ value, ...test }) => ({ ...test, kind: "test", name: nameOf(value)[0] }));
  const first = new Map<string, string>();
  return [...apps, ...named].flatMap(({ file, name, kind, path, problems }): Finding[] => {
    if (name === undefined) return [];
    const key = `${kind} ${name}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, file);
    const message = `there is another ${kind} "${name}" in ${other}; give one of them another name`;
    return other === undefined ? [] : [{ file, ...problems.placeOf(path), message }];
  });
}

async function ofTests(
  tests: readonly Listed[],
  { testcases, apps, names }: Pick<Examining, "testcases"> & { apps: readonly AppView[]; names: string[] },
): Promise<Finding[]> {
  const found = await testcases.problemsIn(
    tests.map(({ value }) => value),
    { apps },
  );
  return found.flatMap(({ index, at = [], path, message, key, code }): Finding[] => {
    const test = tests[index];
    // A problem of a test that this one calls is reported at that test.
    const isOfOther = names.some((name) => path.startsWith(`${name}/`));
    const isUnread = code === "TESTCASE_NOT_FOUND" && names.some((name) => message.includes(`"${name}"`));
    if (!test || isOfOther || isUnread) return [];
    const { file, problems } = test;
    return [
      { file, ...problems.placeOf([...test.path, ...at], key), message: textOf({ at, path, message }) },
    ];
  });
}

async function ofLastRun(
  { file, value, path, problems }: Listed,
  verbs: Verbs,
  lastSteps: Examining["lastSteps"],
): Promise<Finding[]> {
  const [name] = nameOf(value);
  const steps = name === undefined ? [] : await lastSteps(name);
  return partsOfWords(value, steps, { verbs, vocabulary: noNames }).map(
    ({ at, message }): Finding => ({ file, ...problems.placeOf([...path, ...at]), message, weak: true }),
  );
}

function nameOf(value: unknown): string[] {
  return isFields(value) && typeof value.name === "string" ? [value.name] : [];
}
