import type { Step } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { appNameOf, isFields, type Path, type Verbs } from "../steps/index.ts";
import type { ListedProblem, TestcaseService } from "../testcases/index.ts";
import { type AppView, appView } from "../userinterfaces/index.ts";
import { type FileRead, readYaml } from "./importYaml.ts";
import { partsOfWords } from "./partsOfWords.ts";
import { Problems } from "./problems.ts";
import { weaknessesOf } from "./weaknesses.ts";

export type FileText = { file: string; yaml: string };
/** `weak` runs, but proves or reaches less than it seems to. Lines and columns count from 1. */
export type Finding = { file: string; line: number; column: number; message: string; weak?: true };
/** `unchecked` are tests of apps whose own files are wrong. Findings are in the order of the files and their lines. */
export type Examination = { findings: Finding[]; apps: number; tests: number; unchecked: number };

type Examining = {
  verbs: Verbs;
  testcases: Pick<TestcaseService, "importAll">;
  /** The steps of a test's last run, by the test's name; none where it never ran. */
  lastSteps(test: string): Promise<readonly Step[]>;
};
type Examined = { file: string; read?: FileRead; problems: Problems };
type Listed = { file: string; value: unknown; path: Path; problems: Problems };

/** Reads files as an import of all of them would, and says everything that is wrong with them. */
export async function examineFiles(
  files: readonly FileText[],
  { verbs, testcases, lastSteps }: Examining,
): Promise<Examination> {
  const examined = files.map((file) => readFile(file, verbs));
  const apps = examined.flatMap(({ read }) => (read?.model ? [appView(read.model)] : []));
  const broken = new Set(examined.flatMap(({ read, problems }) => (read ? [] : nameOf(problems.value))));
  const all = examined.flatMap(({ file, read, problems }) =>
    (read?.tests ?? []).map(({ value, path }): Listed => ({ file, value, path, problems })),
  );
  const tests = all.filter(({ value }) => !broken.has(appNameOf(value) ?? ""));
  const findings = [
    ...examined.flatMap(ofFile),
    ...sameNames(examined, all),
    ...(await ofTests(tests, { testcases, apps, names: all.flatMap(({ value }) => nameOf(value)) })),
    ...(await Promise.all(tests.map((test) => ofLastRun(test, verbs, lastSteps)))).flat(),
  ];
  const order = new Map(files.map(({ file }, index) => [file, index]));
  findings.sort(
    (a, b) => (order.get(a.file) ?? 0) - (order.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
  return { findings, apps: apps.length, tests: all.length, unchecked: all.length - tests.length };
}

function readFile({ file, yaml }: FileText, verbs: Verbs): Examined {
  const problems = new Problems(yaml, file);
  try {
    return { file, read: readYaml(yaml, { verbs, file, problems }), problems };
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
    const path = read.nodePlaces.get(node) ?? [];
    return { file, ...problems.placeOf(...keyOf(path)), message, weak: true };
  });
  return [...wrong, ...weak];
}

/** What is found later is placed at the label, and not at what stands behind it. */
function keyOf(path: Path): [Path, string?] {
  const label = path.at(-1);
  return typeof label === "string" ? [path.slice(0, -1), label] : [path];
}

/** An app, or a test, of which the later one would take the place of the earlier one. */
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
  const found: ListedProblem[] = [];
  const refuse = (problems: readonly ListedProblem[]) => {
    found.push(...problems);
    return new Refused();
  };
  try {
    const values = tests.map(({ value }) => value);
    await testcases.importAll(values, { apps, dryRun: true, refuse });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  return found.flatMap(({ index, at = [], path, message, key, code }): Finding[] => {
    const test = tests[index];
    // What is wrong with a test that this one calls is told at that test, also that it cannot be read.
    const isOfOther = names.some((name) => path.startsWith(`${name}/`));
    const isUnread = code === "TESTCASE_NOT_FOUND" && names.some((name) => message.includes(`"${name}"`));
    if (!test || isOfOther || isUnread) return [];
    const { file, problems } = test;
    const text = at.length > 0 || path === "" ? message : `${path}: ${message}`;
    return [{ file, ...problems.placeOf([...test.path, ...at], key), message: text }];
  });
}

/** What a test's last run says of its steps. */
async function ofLastRun(
  { file, value, path, problems }: Listed,
  verbs: Verbs,
  lastSteps: Examining["lastSteps"],
): Promise<Finding[]> {
  const [name] = nameOf(value);
  const steps = name === undefined ? [] : await lastSteps(name);
  const vocabulary = { places: [], testcases: [], commands: undefined, checks: undefined };
  return partsOfWords(value, steps, { verbs, vocabulary }).map(
    ({ at, message }): Finding => ({ file, ...problems.placeOf([...path, ...at]), message, weak: true }),
  );
}

class Refused extends ToolError {
  constructor() {
    super("INVALID_INPUT", "The tests are wrong.", "");
  }
}

function nameOf(value: unknown): string[] {
  return isFields(value) && typeof value.name === "string" ? [value.name] : [];
}
