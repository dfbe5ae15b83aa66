import { appendFile, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { reportFiles } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { fileFailure } from "../../fileFailure.ts";
import { done, type RunConnection, unending } from "./connection.ts";

/** Writes where the reports will be written, and takes that away again, so that no run is made whose report would be lost. */
export async function tryReports(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const file of [...Object.values(reportFiles), `.labwright-${process.pid}`]) {
      const path = join(folder, file);
      const isThere = await stat(path).then(
        () => true,
        () => false,
      );
      await appendFile(path, isThere ? "" : " ");
      if (!isThere) await rm(path);
    }
  } catch (error) {
    const said =
      fileFailure(error, folder)?.message ?? (error instanceof Error ? error.message : String(error));
    throw new ToolError(
      "INVALID_INPUT",
      `Reports cannot be written to ${folder}: ${said}`,
      "Name another folder with --report.",
    );
  }
}

/** A test that was not started; `error` says why it could not be, `group` is its entry of the matrix. */
export type NotRun = { name: string; error?: string | undefined; group?: string | undefined };

/** An execution with what was recorded of it. */
type Reported = {
  executionId: string | undefined;
  files: readonly string[];
  group?: string | undefined;
};

/** Writes a report of the executions, and of the tests that were not run, in each format. Returns the path of the page. */
export async function writeReports(
  ran: readonly Reported[],
  folder: string,
  connection: RunConnection,
  notRun: readonly NotRun[],
): Promise<string> {
  // Reports are written for an interrupted run too.
  const signal = unending();
  const execution_id = ran.flatMap(({ executionId }) => executionId ?? []);
  const place = (path: string) => relative(folder, path).replaceAll("\\", "/");
  const files = ran.flatMap(({ executionId, files: paths }) =>
    paths.map((path) => ({ execution_id: executionId, file: place(path) })),
  );
  const groups = ran.flatMap(({ executionId, group }) =>
    executionId === undefined || group === undefined ? [] : [{ execution_id: executionId, group }],
  );
  for (const [format, file] of Object.entries(reportFiles)) {
    const args = { execution_id, format, not_run: [...notRun], files, groups };
    const { report } = z
      .looseObject({ report: z.string() })
      .parse(await done(connection.call("get_execution_report", args, signal)));
    await writeFile(join(folder, file), await connection.artifact(report));
  }
  return join(folder, reportFiles.html);
}
