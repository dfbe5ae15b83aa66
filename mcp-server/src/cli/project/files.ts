import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { findProject, isFolder, projectFiles } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";
import { done, type RunConnection } from "../run/connection.ts";
import { filesNamedBy } from "./content.ts";

/** A folder with more was named by mistake. */
const mostFiles = 2_000;
const isOfProject = (name: string) => /\.(?:ya?ml|feature)$/i.test(name);

/** Whether an argument of the command line names a file or folder, and no test case. */
export function isProjectPath(cwd: string, argument: string): boolean {
  return isOfProject(argument) || isFolder(resolve(cwd, argument));
}

/** The files of YAML and Gherkin of a path, in the order of their names. Throws INVALID_INPUT when there is none. */
export function projectFilesAt(cwd: string, argument: string): string[] {
  const path = resolve(cwd, argument);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw noFile(argument, "There is no such file or folder.");
  const real = realpathSync(path);
  if (!stat.isDirectory()) return [real];
  const files = filesIn(real).sort();
  if (files.length === 0) throw noFile(argument, "It has no YAML or feature file.");
  if (files.length > mostFiles)
    throw noFile(
      argument,
      `It has ${files.length} files of YAML and Gherkin; at most ${mostFiles} are read.`,
    );
  return files;
}

const noFile = (argument: string, why: string) =>
  new ToolError(
    "INVALID_INPUT",
    `${argument}: ${why}`,
    "labwright init makes a folder with an app and a test.",
  );

/** The other files of their projects that these need: their apps, and the tests that they call. */
export const filesNeededBy = (given: readonly string[], cwd: string): string[] =>
  projectsOf(given, cwd).flatMap(neededBy);

function neededBy({ folder, paths }: Project): string[] {
  const own = join(folder, projectFiles);
  return isFolder(own) ? filesNamedBy(paths, filesIn(realpathSync(own)).sort()) : [];
}

/** Hidden folders and those of packages are left out. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name.startsWith(".") || entry.name === "node_modules" ? [] : filesIn(path);
    return entry.isFile() && isOfProject(entry.name) ? [path] : [];
  });
}

/** The files in the project's folder of apps; none outside of a project. */
export function filesOfApps(cwd: string): string[] {
  const apps = join(findProject(cwd) ?? cwd, projectFiles, "apps");
  return isFolder(apps) ? filesIn(apps).sort() : [];
}

type Test = { id: string; name: string };
/** A file as it was loaded. `file` is the path to show, from the working folder; `hash` is of what was loaded. */
export type Loaded = {
  path: string;
  file: string;
  hash: string;
  app: string | undefined;
  tests: Test[];
  changed: boolean;
};
export type LoadedFiles = {
  files: Loaded[];
  /** Names that are no longer in the folders. */
  archived: string[];
};

const replySchema = z.looseObject({
  loaded: z.looseObject({
    needs: z.array(z.string()).optional(),
    files: z.array(
      z.looseObject({
        file: z.string(),
        app: z.string().optional(),
        tests: z.array(z.looseObject({ id: z.string(), name: z.string() })),
        changed: z.boolean(),
      }),
    ),
    archived: z.array(z.string()),
  }),
});

/** Files of one project; `folders` are those that were named, of which all files are among them. */
type Project = { folder: string; paths: string[]; folders: string[] };

/**
 * Loads what changed of files and folders, and of what they need, into the database: of each project all or nothing. Throws
 * with every problem of every file of the first project that cannot be loaded.
 */
export async function loadFiles(
  given: readonly string[],
  connection: Pick<RunConnection, "call">,
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<LoadedFiles> {
  const all: LoadedFiles = { files: [], archived: [] };
  for (const project of projectsOf(given, cwd)) {
    const paths = [...project.paths, ...neededBy(project)];
    const { files, archived } = await loadProject({ ...project, paths }, connection, { cwd, signal });
    all.files.push(...files);
    all.archived.push(...archived);
  }
  return all;
}

function projectsOf(given: readonly string[], cwd: string): Project[] {
  const projects = new Map<string, Project>();
  for (const argument of given) {
    const paths = projectFilesAt(cwd, argument);
    const named = realpathSync(resolve(cwd, argument));
    const folder = projectOf(isFolder(named) ? named : dirname(named), cwd);
    const project = projects.get(folder) ?? { folder, paths: [], folders: [] };
    projects.set(folder, project);
    project.paths.push(...paths.filter((path) => !project.paths.includes(path)));
    if (isFolder(named)) project.folders.push(inside(folder, named));
  }
  return [...projects.values()];
}

/** The project that a folder is in; where there is none, the working folder above it, else the folder itself. */
function projectOf(folder: string, cwd: string): string {
  const own = realpathSync(cwd);
  const isBelow = folder === own || folder.startsWith(own + sep);
  return findProject(folder) ?? (isBelow ? own : folder);
}

const inside = (folder: string, path: string) => relative(folder, path).replaceAll("\\", "/");

async function loadProject(
  { folder, paths, folders }: Project,
  connection: Pick<RunConnection, "call">,
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<LoadedFiles> {
  const read = paths.map((path) => {
    const text = readText(path, cwd);
    return { path, text, file: inside(folder, path), hash: hashOf(text) };
  });
  const load = async (needs: readonly string[]) => {
    const files = read.map(({ file, hash, text }) => ({ file, hash, ...(needs.includes(file) && { text }) }));
    const args = { replace: true, load: { project: folder, files, folders } };
    return replySchema.parse(await done(connection.call("import_userinterface", args, signal))).loaded;
  };
  // Texts of files that the database knows stay here.
  const first = await load([]);
  const { files, archived } = first.needs ? await load(first.needs) : first;
  const byFile = new Map(files.map((one) => [one.file, one]));
  return {
    archived,
    files: read.map(({ path, file, hash }) => {
      const { app, tests = [], changed = false } = byFile.get(file) ?? {};
      return { path, file: relative(cwd, path), hash, app, tests, changed };
    }),
  };
}

/** The files that changed since they were loaded. */
export const changedSince = (files: readonly Loaded[]): string[] =>
  files.flatMap(({ path, file, hash }) => {
    try {
      return hashOf(readFileSync(path, "utf8")) === hash ? [] : [file];
    } catch {
      return [file];
    }
  });

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

function readText(path: string, cwd: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `${relative(cwd, path)} cannot be read: ${message}`,
      "Check its rights.",
    );
  }
}
