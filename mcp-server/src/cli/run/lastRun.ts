import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { fileFailure } from "../../fileFailure.ts";
import { ownFile, ownFolder, replaceFile } from "../folder/journal.ts";
import type { RunTerminal } from "./connection.ts";

type Test = { name: string; project?: string | undefined };

const fileSchema = z.object({
  failed: z.array(z.object({ name: z.string(), project: z.string().optional() })),
});
const fileOf = (cwd: string) => ownFile(cwd, "last-run.json");
const keyOf = ({ project, name }: Test) => JSON.stringify([project, name]);

/** The tests that did not pass when they last ran from this folder. */
function failedBefore(cwd: string): Test[] {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(fileOf(cwd), "utf8"))).failed;
  } catch {
    return [];
  }
}

/** Whether a test did not pass when it last ran from this folder. */
export function lastFailed(cwd: string): (test: Test) => boolean {
  const failed = new Set(failedBefore(cwd).map(keyOf));
  return (test) => failed.has(keyOf(test));
}

/**
 * Notes how tests ended, for the next `--last-failed`. A test that was not run, or was stopped, stands as it stood before. A
 * folder where nothing has failed gets no file.
 */
export function noteRun(
  ends: readonly (Test & { status: string })[],
  { cwd, err }: Pick<RunTerminal, "cwd" | "err">,
): void {
  const judged = ends.filter(({ status }) => status !== "cancelled");
  const now = new Set(judged.map(keyOf));
  const others = failedBefore(cwd).filter((test) => !now.has(keyOf(test)));
  const failed = judged.filter(({ status }) => status !== "passed");
  const all = new Map(
    [...others, ...failed].map(({ name, project }) => [keyOf({ name, project }), { name, project }]),
  );
  if (all.size === 0 && !existsSync(fileOf(cwd))) return;
  try {
    ownFolder(cwd);
    replaceFile(fileOf(cwd), `${JSON.stringify({ failed: [...all.values()] })}\n`);
  } catch (error) {
    const why = fileFailure(error)?.message ?? (error instanceof Error ? error.message : String(error));
    err(`--last-failed will not know of this run: ${why}\n`);
  }
}
