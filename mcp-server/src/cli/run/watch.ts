import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findProject, projectFiles } from "../../config/places.ts";
import { loadConfig } from "../../config.ts";
import { ToolError } from "../../errors.ts";
import type { DaemonOptions } from "../options.ts";
import { contentOf } from "../project/content.ts";
import { filesNeededBy, isProjectPath, projectFilesAt } from "../project/files.ts";
import { type ExitCode, exitCodes, failureText, type Terminal, wrapText } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import type { RunTerminal } from "./connection.ts";
import { type RunOptions, runTestcases } from "./run.ts";
import { withWebServer } from "./webServer.ts";

/** Pause between two checks of the files. Files that still change at the next check belong to the same burst. */
const checkMs = 250;

type Run = (testcases: readonly string[]) => Promise<ExitCode>;

/**
 * `labwright run --watch`: runs the tests of files and folders, by default those of the project, and again those of each file that changes; of an app's file all
 * tests of the app. A file with an error is reported and waits for its next change; what was saved before stays. Ends at Ctrl-C
 * with the code of the last run.
 */
async function watchTests(testcases: readonly string[], run: Run, terminal: RunTerminal): Promise<ExitCode> {
  const { cwd, signal, out } = terminal;
  const project = findProject(cwd);
  const own = project === undefined ? [] : [relative(cwd, join(project, projectFiles))];
  const paths = testcases.length > 0 ? testcases : own;
  refuseOthers(paths, cwd);
  const given = () => paths.flatMap((path) => filesAt(cwd, path));
  let needed = filesNeededBy(given(), cwd);
  let seen = stamps([...given(), ...needed]);
  let code = (await reported(() => run(paths), terminal)) ?? exitCodes.error;
  /** Files that changed and could not run yet. */
  let waiting: readonly string[] = [];
  while (!signal.aborted) {
    out(`watching ${paths.join(", ")}; Ctrl-C ends it\n`);
    const now = await nextChange(seen, () => stamps([...given(), ...needed]), signal);
    if (now === undefined) break;
    const files = [...now.keys()].filter(
      (path) => now.get(path) !== seen.get(path) || waiting.includes(path),
    );
    seen = now;
    waiting = [];
    const chosen = affected(files, given());
    needed = filesNeededBy(given(), cwd);
    out(`changed: ${files.map((path) => relative(cwd, path)).join(", ")}\n`);
    if (!chosen.some((path) => contentOf(path).hasTests)) {
      out("No watched test uses the changed files.\n");
      continue;
    }
    const ended = await reported(() => run(chosen.map((path) => relative(cwd, path))), terminal);
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

/** Undefined for a run that could not begin, which is reported. */
async function reported(
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

/** Each file with a stamp that differs from one version to the next. */
function stamps(files: readonly string[]): Seen {
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
    return projectFilesAt(cwd, path);
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

const isSame = (before: Seen, now: Seen): boolean =>
  [...now].every(([path, version]) => before.get(path) === version);

/** Waits until a change has come and no more changes follow. Undefined at Ctrl-C. */
async function nextChange(
  before: Seen,
  stampsNow: () => Seen,
  signal: AbortSignal,
): Promise<Seen | undefined> {
  let last = before;
  for (;;) {
    try {
      await pause(checkMs, undefined, { signal });
    } catch {
      return undefined;
    }
    const now = stampsNow();
    if (isSame(last, now) && !isSame(before, now)) return now;
    last = now;
  }
}

/** The given files to run again: all where one that they need changed, else those that changed and the tests of their apps. */
function affected(changed: readonly string[], given: readonly string[]): readonly string[] {
  if (changed.some((path) => !given.includes(path))) return given;
  const apps = new Set(changed.flatMap((path) => contentOf(path).app ?? []));
  const own = given.filter((path) => apps.has(contentOf(path).of ?? ""));
  return [...new Set([...changed, ...own])];
}

/** The matrix of labwright.yaml, for a run that names no device. */
function matrixOf({ device, config, dataDir }: DaemonOptions & RunOptions, { env, cwd }: Terminal) {
  const given = { config, data_dir: dataDir };
  return device === undefined ? loadConfig({ command: "run", options: given, env, cwd }).matrix : undefined;
}

/** `labwright run` on the daemon of the data directory. Its devices are released when a run ends, and the app of `web_server` is stopped. */
export const runOnDaemon = (
  { watch, ...options }: DaemonOptions & RunOptions & { watch?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> =>
  withDaemon(options, terminal, { command: "run" }, (connection) => {
    const matrix = options.matrix ?? matrixOf(options, terminal);
    const run = (testcases: readonly string[]) =>
      runTestcases({ ...options, matrix, testcases }, connection, terminal);
    const all = () => (watch ? watchTests(options.testcases, run, terminal) : run(options.testcases));
    return options.list ? all() : withWebServer(options, terminal, all);
  });
