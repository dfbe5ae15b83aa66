import { join } from "node:path";
import { z } from "zod";
import { findProject, projectFiles } from "../../config/projectFolder.ts";
import { ToolError } from "../../errors.ts";
import { isBeyondDouble } from "../../services/values/exactNumbers.ts";
import { isProjectPath, type Loaded, loadFiles, yamlFilesAt } from "../project/files.ts";
import { done, type RunConnection, type RunTerminal } from "./connection.ts";
import { type Filter, filtered } from "./filter.ts";
import { lastFailed } from "./lastRun.ts";

export type PlanOptions = Filter & {
  /**
   * Names or ids of test cases, or YAML files and folders of them, which are loaded first. When empty, the tests of the project
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
  const named = new Set(paths.flatMap((path) => yamlFilesAt(cwd, path)));
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

/** The id of the one that is meant in the project. Throws with the names that are nearest, or the projects that have one. */
async function idOf(ref: string, connection: RunConnection, signal: AbortSignal): Promise<string> {
  const loaded = await done(connection.call("load_testcase", { testcase: ref }, signal));
  return z.looseObject({ id: z.string() }).parse(loaded).id;
}

/**
 * Without the tests that need an input which nobody gives: others call them. Those that were named stay, and say what they
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
