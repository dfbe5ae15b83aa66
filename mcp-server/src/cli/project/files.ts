import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { done, type RunConnection } from "../run/connection.ts";

/** More is no folder of tests, but one that was named by mistake. */
const mostFiles = 2_000;
const isYaml = (name: string) => /\.ya?ml$/i.test(name);

/** Whether an argument of the command line names a file or folder, and no test case. */
export function isProjectPath(cwd: string, argument: string): boolean {
  return (
    isYaml(argument) || statSync(resolve(cwd, argument), { throwIfNoEntry: false })?.isDirectory() === true
  );
}

/** The YAML files of a path, in the order of their names. Throws INVALID_INPUT when there is none. */
export function yamlFilesAt(cwd: string, argument: string): string[] {
  const path = resolve(cwd, argument);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw noFile(argument, "There is no such file or folder.");
  if (!stat.isDirectory()) return [path];
  const files = filesIn(path).sort();
  if (files.length === 0) throw noFile(argument, "It has no YAML file.");
  if (files.length > mostFiles)
    throw noFile(argument, `It has ${files.length} YAML files; at most ${mostFiles} are read.`);
  return files;
}

const noFile = (argument: string, why: string) =>
  new ToolError(
    "INVALID_INPUT",
    `${argument}: ${why}`,
    "labwright init makes a folder with an app and a test.",
  );

/** Hidden folders and those of packages are left out. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name.startsWith(".") || entry.name === "node_modules" ? [] : filesIn(path);
    return entry.isFile() && isYaml(entry.name) ? [path] : [];
  });
}

type File = { path: string; text: string; isApp: boolean };

const importedSchema = z.looseObject({ name: z.string().optional(), names: z.array(z.string()) });
/** `file` is the path as it is told, from the working folder. */
export type Imported = { path: string; file: string; app: string | undefined; tests: string[] };

/**
 * Saves apps and tests of files and returns what each holds, in the order of `paths`. Apps come first; a file whose tests call
 * tests of another file waits for that one. Throws what the first file that cannot be saved is refused with.
 */
export async function importFiles(
  paths: readonly string[],
  connection: Pick<RunConnection, "call">,
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<Imported[]> {
  const imported = new Map<string, Imported>();
  const all = paths.map((path) => readFile(path, cwd));
  let left = [...all.filter(({ isApp }) => isApp), ...all.filter(({ isApp }) => !isApp)];
  while (left.length > 0) {
    const refused: { file: File; error: ToolError }[] = [];
    for (const file of left) {
      const ended = await importFile(file, connection, { cwd, signal }).catch(toolError);
      if (ended instanceof ToolError) refused.push({ file, error: ended });
      else imported.set(file.path, ended);
    }
    // Without progress the first refusal is what is wrong.
    if (refused[0] !== undefined && refused.length === left.length) throw refused[0].error;
    left = refused.map(({ file }) => file);
  }
  return paths.flatMap((path) => imported.get(path) ?? []);
}

function toolError(error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  throw error;
}

async function importFile(
  { path, text }: File,
  connection: Pick<RunConnection, "call">,
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<Imported> {
  const file = relative(cwd, path);
  const args = { yaml: text, replace: true, file };
  const { name, names } = importedSchema.parse(
    await done(connection.call("import_userinterface", args, signal)),
  );
  return { path, file, app: name, tests: names };
}

function readFile(path: string, cwd: string): File {
  try {
    const text = readFileSync(path, "utf8");
    return { path, text, isApp: /^(?:nodes|edges|tree|models):/m.test(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `${relative(cwd, path)} cannot be read: ${message}`,
      "Check its rights.",
    );
  }
}
