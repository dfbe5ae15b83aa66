import { join } from "node:path";
import { nearest } from "@labwright/controllers";
import { z } from "zod";
import { findProject, projectFiles } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";
import { isBeyondDouble } from "../../services/values/exactNumbers.ts";
import { isProjectPath, type Loaded, loadFiles, projectFilesAt } from "../project/files.ts";
import { done, type RunConnection, type RunTerminal } from "./connection.ts";
import { lastFailed } from "./lastRun.ts";

export type PlanOptions = Filter & {
  /**
   * Names or ids of test cases, or files of YAML or Gherkin and folders of them, which are loaded first. When empty, the tests of the project
   * that the working folder is in; in none, all that are in no project.
   */
  testcases: readonly string[];
  /** `name=value`; a value that is JSON is taken as such. */
  inputs: readonly string[];
};

export type Plan = {
  tests: Planned[];
  /** The files that they were loaded from. */
  files: readonly Loaded[];
};
export type Planned = {
  id: string;
  name: string;
  project: string | undefined;
  /** The file that it was loaded from, from the working folder. */
  file: string | undefined;
  inputs: Record<string, unknown>;
  needsDevice: boolean;
};

const listedSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  project: z.string().optional(),
  tags: z.array(z.string()).default([]),
  inputs: z
    .array(z.string())
    .default([])
    .transform((inputs) =>
      inputs.map((input) => ({
        name: input.replace(/ \(required\)$/, ""),
        isRequired: input.endsWith(" (required)"),
      })),
    ),
  needs_device: z.boolean().default(true),
});
type Listed = z.output<typeof listedSchema>;

/** Loads files that changed, finds every test case that the filter leaves, and gives each the inputs that it declares. */
export async function planRun(
  options: PlanOptions,
  connection: RunConnection,
  { cwd, signal, err }: Pick<RunTerminal, "cwd" | "signal" | "err">,
): Promise<Plan> {
  const inputs = parseInputs(options.inputs);
  const project = findProject(cwd);
  const byName = options.testcases.filter((argument) => !isProjectPath(cwd, argument));
  const paths = options.testcases.filter((argument) => isProjectPath(cwd, argument));
  const own = project === undefined ? [] : [join(project, projectFiles)];
  const { files, archived } = await loadFiles(paths.length > 0 ? paths : own, connection, { cwd, signal });
  if (archived.length > 0) err(`archived, since no file has them any more: ${archived.join(", ")}\n`);
  const all = await listAll(connection, signal);
  const byId = new Map(all.map((test) => [test.id, test]));
  // More is loaded than what runs: the files of the project for names, and what the named files need.
  const named = new Set(paths.flatMap((path) => projectFilesAt(cwd, path)));
  const isChosen = ({ path }: Loaded) => named.has(path) || options.testcases.length === 0;
  const ids = files.filter(isChosen).flatMap(({ tests }) => tests.map(({ id }) => id));
  for (const name of byName) ids.push(await idOf(name, connection, signal));
  const isAll = options.testcases.length === 0 && project === undefined;
  const wanted = isAll
    ? all.filter((test) => test.project === undefined)
    : ids.flatMap((id) => byId.get(id) ?? []);
  if (wanted.length === 0) {
    const hint = "labwright init makes a folder with an app and a test; labwright run labwright runs it.";
    throw new ToolError("INVALID_INPUT", "There is no test case yet.", hint);
  }
  const tests = withoutParts(filtered(wanted, options, lastFailed(cwd)), { byName, inputs, err });
  refuseStray(Object.keys(inputs), tests);
  const fileOf = new Map(files.flatMap(({ file, tests }) => tests.map(({ id }) => [id, file] as const)));
  const planned = tests.map((test) => ({
    id: test.id,
    name: test.name,
    project: test.project,
    file: fileOf.get(test.id),
    inputs: Object.fromEntries(
      Object.entries(inputs).filter(([name]) => test.inputs.some((input) => input.name === name)),
    ),
    needsDevice: test.needs_device,
  }));
  return { tests: planned, files };
}

/** As many at a time as a reply holds. */
async function listAll(connection: RunConnection, signal: AbortSignal): Promise<Listed[]> {
  const page = z.looseObject({ testcases: z.array(listedSchema), more: z.number().default(0) });
  const all: Listed[] = [];
  for (let more = 1; more > 0; ) {
    const args = { offset: all.length, max_tokens: 50_000 };
    const found = page.parse(await done(connection.call("list_testcases", args, signal)));
    all.push(...found.testcases);
    more = found.testcases.length === 0 ? 0 : found.more;
  }
  return all;
}

/** The id of the one in the project. Throws with the names that are nearest, or the projects that have one. */
async function idOf(ref: string, connection: RunConnection, signal: AbortSignal): Promise<string> {
  const loaded = await done(connection.call("load_testcase", { testcase: ref }, signal));
  return z.looseObject({ id: z.string() }).parse(loaded).id;
}

/**
 * Without the tests that need an input that is not given: other tests call them. Those that were named stay, and say what they
 * need. Throws INVALID_INPUT when none is left.
 */
function withoutParts(
  tests: readonly Listed[],
  given: { byName: readonly string[]; inputs: Record<string, unknown>; err(text: string): void },
): Listed[] {
  const missing = ({ id, name, inputs }: Listed) =>
    given.byName.includes(name) || given.byName.includes(id)
      ? []
      : inputs.filter((input) => input.isRequired && !Object.hasOwn(given.inputs, input.name));
  const parts = tests.filter((test) => missing(test).length > 0);
  if (parts.length === 0) return [...tests];
  const said = parts.map(
    (test) =>
      `${test.name} (${missing(test)
        .map(({ name }) => name)
        .join(", ")})`,
  );
  const text = `${said.length > 1 ? "These need inputs" : "This needs an input"} that were not given: ${said.join(", ")}.`;
  if (parts.length === tests.length)
    throw new ToolError("INVALID_INPUT", text, "Give them: --input name=value.");
  given.err(`left out: ${text}\n`);
  return tests.filter((test) => !parts.includes(test));
}

function refuseStray(given: readonly string[], tests: readonly Listed[]): void {
  const known = new Set(tests.flatMap(({ inputs }) => inputs.map(({ name }) => name)));
  const stray = given.filter((name) => !known.has(name));
  if (stray.length === 0) return;
  const hint = known.size > 0 ? `Inputs are ${[...known].join(", ")}.` : "They take no inputs.";
  throw new ToolError("INVALID_INPUT", `No test case has the input ${stray.join(", ")}.`, hint);
}

function parseInputs(given: readonly string[]): Record<string, unknown> {
  const pairs = given.map((text) => {
    const split = text.indexOf("=");
    if (split > 0) return [text.slice(0, split), valueOfInput(text.slice(split + 1))] as const;
    throw new ToolError(
      "INVALID_INPUT",
      `--input ${text} is not name=value.`,
      "For example --input user=anna.",
    );
  });
  return Object.fromEntries(pairs);
}

function valueOfInput(text: string): unknown {
  if (isBeyondDouble(text)) return `{{${text}}}`;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export type Filter = {
  /** A test case has one of them. */
  tags?: readonly string[] | undefined;
  /** Text that the name has in it, or `/expression/flags`. */
  grep?: string | undefined;
  shard?: Shard | undefined;
  /** Only tests that did not pass when they last ran from the working folder. */
  lastFailed?: boolean | undefined;
};
/** `index` counts from 1. */
export type Shard = { index: number; total: number };

type Filterable = { name: string; tags: readonly string[] };

/**
 * The tests that the filter leaves, in their order; `hasFailed` says which failed before. Throws INVALID_INPUT when it leaves
 * none, with what there is.
 */
export function filtered<Test extends Filterable>(
  tests: readonly Test[],
  filter: Filter,
  hasFailed: (test: Test) => boolean,
): Test[] {
  const { tags = [], grep, shard } = filter;
  const tagged = withTags(tests, tags);
  const named = grep === undefined ? tagged : matching(tagged, grep);
  const failed = filter.lastFailed ? named.filter(hasFailed) : named;
  if (failed.length === 0)
    throw nothing("None of these tests failed the last time.", "Leave --last-failed out to run them all.");
  return shard === undefined ? failed : inShard(failed, shard);
}

function withTags<Test extends Filterable>(tests: readonly Test[], tags: readonly string[]): Test[] {
  const known = [...new Set(tests.flatMap((test) => test.tags))].sort();
  for (const tag of tags) {
    if (known.includes(tag)) continue;
    const [near] = nearest(tag, known, 1);
    const suggestion = near === undefined ? "" : `Did you mean ${near}? `;
    const all = known.length > 0 ? `The tags are ${known.join(", ")}.` : "None of the test cases has a tag.";
    throw nothing(`No test case has the tag "${tag}".`, `${suggestion}${all}`);
  }
  return tests.filter((test) => tags.length === 0 || test.tags.some((tag) => tags.includes(tag)));
}

function matching<Test extends Filterable>(tests: readonly Test[], grep: string): Test[] {
  const isMatch = matcherOf(grep);
  const found = tests.filter(({ name }) => isMatch(name));
  if (found.length > 0) return found;
  const names = tests.map(({ name }) => name);
  const near = nearest(grep, names, 3).map((name) => `"${name}"`);
  throw nothing(
    `None of ${names.length} test cases has a name that matches ${grep}.`,
    near.length > 0 ? `The nearest: ${near.join(", ")}.` : "labwright list tests shows all names.",
  );
}

/** Text is found in any case. */
function matcherOf(grep: string): (name: string) => boolean {
  const [, source, flags = ""] = /^\/(.+)\/([a-z]*)$/s.exec(grep) ?? [];
  if (source === undefined) return (name) => name.toLowerCase().includes(grep.toLowerCase());
  try {
    // `g` and `y` would make one answer depend on the one before.
    const expression = new RegExp(source, flags.replace(/[gy]/g, ""));
    return (name) => expression.test(name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw nothing(`--grep ${grep}: ${why}.`, "Give text, or an expression between slashes.");
  }
}

/** The same for whoever runs the same tests; every test is in one of the shards. A test given twice stays together. */
function inShard<Test extends Filterable>(tests: readonly Test[], { index, total }: Shard): Test[] {
  const names = [...new Set(tests.map(({ name }) => name))].sort();
  const own = new Set(names.filter((_, at) => at % total === index - 1));
  if (own.size > 0) return tests.filter(({ name }) => own.has(name));
  const [count, most] = [`${names.length} test cases`, `--shard 1/${names.length}`];
  throw nothing(`Shard ${index}/${total} of ${count} is empty.`, `Use at most ${most}.`);
}

const nothing = (message: string, hint: string) => new ToolError("INVALID_INPUT", message, hint);
