import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { type CountedRun, countText, type ReportFormat, reportFiles } from "../../domain/index.ts";
import { recordedFile } from "../../domain/recordedFile.ts";
import { ToolError } from "../../errors.ts";
import {
  type ReportEntry,
  readReport,
  renderers,
  type SkippedTest,
  withPictures,
} from "../../services/runs/reports/index.ts";
import { exitCodeOf } from "../run/run.ts";
import type { ExitCode, Terminal } from "../terminal.ts";

export type MergeOptions = {
  /** Folders that `labwright run --report` wrote. */
  folders: readonly string[];
  /** The folder of the one report. */
  report: string;
};

type Shard = { folder: string; entries: readonly ReportEntry[]; skipped: readonly SkippedTest[] };

/**
 * `labwright report merge`: one report of several runs of the command, such as the shards of a test suite, from their
 * pages alone. The exit code is that of one run of all tests. Throws INVALID_INPUT before it writes anything.
 */
export async function mergeReports(
  { folders, report }: MergeOptions,
  { out, cwd, signal }: Pick<Terminal, "out" | "cwd" | "signal">,
): Promise<ExitCode> {
  const target = resolve(cwd, report);
  const shards: Shard[] = [];
  for (const folder of folders) shards.push(seenFrom(target, await readShard(resolve(cwd, folder))));
  refuseTwice(shards);
  if (shards.some(({ folder }) => folder === target))
    throw wrong(`${target} is one of the folders to merge.`, "Name another folder with --report.");
  const runs = shards.flatMap(({ entries }) => entries);
  const entries = await withPictures(runs, async (uri) =>
    runs.find(({ pictures }) => pictures.has(uri))?.pictures.get(uri),
  );
  signal.throwIfAborted();
  // Another shard may have run a test that one did not start.
  const keyOf = (name: string, group: string | undefined) => JSON.stringify([name, group]);
  const known = new Set(entries.map(({ execution, group }) => keyOf(execution.name, group)));
  const skipped = shards
    .flatMap((shard) => shard.skipped)
    .filter(({ name, group }) => !known.has(keyOf(name, group)));
  const head = { id: randomUUID(), generatedAt: new Date().toISOString(), skipped };
  await writeTogether(target, (format) => renderers[format].render(entries, head));
  const unstarted = skipped.filter(({ isError }) => isError).map(() => ({ status: "error" }));
  const ends: CountedRun[] = [
    ...entries.map(({ execution: { status, flaky } }) => ({ status, flaky })),
    ...unstarted,
  ];
  out(
    `report: ${join(target, reportFiles.html)}\n${countText(ends, skipped.filter(({ isError }) => !isError).length)}\n`,
  );
  return exitCodeOf(ends.map(({ status }) => status));
}

const wrong = (message: string, hint: string) => new ToolError("INVALID_INPUT", message, hint);

async function readShard(folder: string): Promise<Shard> {
  const hint = "Give folders that labwright run --report wrote.";
  const isFolder = await stat(folder).then((found) => found.isDirectory(), isMissing);
  if (!isFolder) throw wrong(`There is no folder ${folder}.`, hint);
  const file = join(folder, reportFiles.html);
  const page = await readFile(file, "utf8").catch(isMissing);
  if (page === false) throw wrong(`${folder} holds no report: it has no ${reportFiles.html}.`, hint);
  try {
    return { folder, ...readReport(page) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw wrong(`${file} cannot be merged: ${reason}.`, `${hint} All must be of this version.`);
  }
}

/** A relative path of a video or trace. What else a page may name would become a link of the report, or an attachment that a CI uploads. */
const isRecorded = (file: string) =>
  /^[^\p{Cc}:\\]+$/u.test(file) && !isAbsolute(file) && recordedFile(file) !== undefined;

/** Videos and traces stay in their folder. */
function seenFrom(target: string, { folder, entries, skipped }: Shard): Shard {
  const place = (file: string) => relative(target, join(folder, file)).replaceAll("\\", "/");
  const moved = entries.map((entry) => ({
    ...entry,
    files: entry.files?.filter(isRecorded).map(place) ?? [],
  }));
  return { folder, entries: moved, skipped };
}

function isMissing(error: NodeJS.ErrnoException): false {
  if (error.code === "ENOENT") return false;
  throw error;
}

function refuseTwice(shards: readonly Shard[]): void {
  const seen = new Map<string, string>();
  for (const { folder, entries } of shards)
    for (const { execution } of entries) {
      const first = seen.get(execution.id);
      const where = first === folder ? `twice in ${folder}` : `in ${first} and in ${folder}`;
      if (first !== undefined)
        throw wrong(`The run ${execution.id} of "${execution.name}" is ${where}.`, "Name each folder once.");
      seen.set(execution.id, folder);
    }
}

/** Writes all files under other names first, so that a full disk leaves the old ones. */
async function writeTogether(folder: string, render: (format: ReportFormat) => string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const moves = (["html", "junit", "ctrf"] as const).map((format) => {
    const to = join(folder, reportFiles[format]);
    return { format, from: `${to}.${process.pid}`, to };
  });
  try {
    for (const { to } of moves)
      if (await stat(to).then((found) => found.isDirectory(), isMissing))
        throw wrong(`${to} is a folder; expected a file.`, "Name another folder with --report.");
    for (const { format, from } of moves) await writeFile(from, render(format));
    for (const { from, to } of moves) await rename(from, to);
  } finally {
    for (const { from } of moves) await rm(from, { force: true });
  }
}
