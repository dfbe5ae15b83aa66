import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import { z } from "zod";
import { findProject, projectFiles } from "../../config/projectFolder.ts";
import { ToolError } from "../../errors.ts";
import { isProjectPath, yamlFilesAt } from "../project/files.ts";
import { type ExitCode, exitCodes, failureText, wrapText } from "../terminal.ts";
import type { RunTerminal } from "./connection.ts";

/** Between two looks at the files. Files that still change at the next look belong to the same burst. */
const lookMs = 250;

type Run = (testcases: readonly string[]) => Promise<ExitCode>;

/**
 * `labwright run --watch`: runs the tests of files and folders, by default those of the project, and again those of each file that changes; of an app's file all
 * tests of the app. A file that is wrong is told and waits for its next change; what was saved before stays. Ends at Ctrl-C
 * with the code of the last run.
 */
export async function watchTests(
  given: readonly string[],
  run: Run,
  terminal: RunTerminal,
): Promise<ExitCode> {
  const { cwd, signal, out } = terminal;
  const project = findProject(cwd);
  const own = project === undefined ? [] : [relative(cwd, join(project, projectFiles))];
  const paths = given.length > 0 ? given : own;
  refuseOthers(paths, cwd);
  let seen = look(paths, cwd);
  let code = (await told(() => run(paths), terminal)) ?? exitCodes.error;
  /** What changed and could not run yet. */
  let waiting: readonly string[] = [];
  while (!signal.aborted) {
    out(`watching ${paths.join(", ")}; Ctrl-C ends it\n`);
    const now = await nextChange(seen, () => look(paths, cwd), signal);
    if (now === undefined) break;
    const files = [...now.keys()].filter(
      (path) => now.get(path) !== seen.get(path) || waiting.includes(path),
    );
    seen = now;
    waiting = [];
    const chosen = withTestsOf(files, [...now.keys()]);
    out(`changed: ${files.map((path) => relative(cwd, path)).join(", ")}\n`);
    if (!chosen.some((path) => read(path).hasTests)) {
      out("None of the watched tests is of what changed.\n");
      continue;
    }
    const ended = await told(() => run(chosen.map((path) => relative(cwd, path))), terminal);
    if (ended === undefined) waiting = files;
    code = ended ?? exitCodes.error;
  }
  return code;
}

function refuseOthers(paths: readonly string[], cwd: string): void {
  const others = paths.filter((path) => !isProjectPath(cwd, path));
  if (paths.length > 0 && others.length === 0) return;
  const message =
    paths.length === 0 ? "--watch needs files or folders." : `${others.join(", ")}: no file or folder.`;
  throw new ToolError("INVALID_INPUT", message, "For example: labwright run labwright --watch");
}

/** Undefined for a run that could not begin, which is told. */
async function told(
  run: () => Promise<ExitCode>,
  { err, columns }: RunTerminal,
): Promise<ExitCode | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    err(wrapText(failureText(error), columns));
    return undefined;
  }
}

type Seen = ReadonlyMap<string, string>;

/** Each file with what tells one version of it from the next. */
function look(paths: readonly string[], cwd: string): Seen {
  const files = paths.flatMap((path) => filesAt(cwd, path));
  return new Map(
    files.flatMap((path): [string, string][] => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? [] : [[path, `${stat.mtimeMs} ${stat.size} ${stat.ino}`]];
    }),
  );
}

/** A folder may be empty for a moment. */
function filesAt(cwd: string, path: string): string[] {
  try {
    return yamlFilesAt(cwd, path);
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

const isSame = (before: Seen, now: Seen): boolean =>
  [...now].every(([path, version]) => before.get(path) === version);

/** Waits until something has changed and nothing changes any more. Undefined at Ctrl-C. */
async function nextChange(before: Seen, lookNow: () => Seen, signal: AbortSignal): Promise<Seen | undefined> {
  let last = before;
  for (;;) {
    try {
      await pause(lookMs, undefined, { signal });
    } catch {
      return undefined;
    }
    const now = lookNow();
    if (isSame(last, now) && !isSame(before, now)) return now;
    last = now;
  }
}

const named = z.string().optional().catch(undefined);
const contentSchema = z
  .looseObject({ name: named, app: named, userinterface_name: named })
  .catch({ name: undefined, app: undefined, userinterface_name: undefined });

/** The app that a file is, the one that its tests are of, and whether it has tests. */
function read(path: string): { app: string | undefined; of: string | undefined; hasTests: boolean } {
  let value: unknown;
  try {
    value = parse(readFileSync(path, "utf8"));
  } catch {
    // The import says what is wrong with it.
    return { app: undefined, of: undefined, hasTests: true };
  }
  const content = contentSchema.parse(value);
  const has = (...keys: string[]) => keys.some((key) => key in content);
  const hasTests = has("steps", "blocks", "tests", "testcases");
  const app = has("nodes", "edges", "tree", "models") ? content.name : undefined;
  return { app, of: content.app ?? content.userinterface_name, hasTests };
}

/** With the files of tests of the apps that are among them. */
function withTestsOf(files: readonly string[], all: readonly string[]): string[] {
  const apps = new Set(files.flatMap((path) => read(path).app ?? []));
  const own = all.filter((path) => apps.has(read(path).of ?? ""));
  return [...new Set([...files, ...own])];
}
