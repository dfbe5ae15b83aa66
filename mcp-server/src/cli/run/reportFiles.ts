import { appendFile, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

/** Writes a report of the executions in each format. Returns the path of the page. */
export async function writeReports(
  executionIds: readonly string[],
  folder: string,
  connection: RunConnection,
): Promise<string> {
  // Reports are written for an interrupted run too.
  const signal = unending();
  for (const [format, file] of Object.entries(reportFiles)) {
    const args = { execution_id: [...executionIds], format };
    const { report } = z
      .looseObject({ report: z.string() })
      .parse(await done(connection.call("get_execution_report", args, signal)));
    await writeFile(join(folder, file), await connection.artifact(report));
  }
  return join(folder, reportFiles.html);
}
