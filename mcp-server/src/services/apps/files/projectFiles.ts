import { createHash, randomUUID } from "node:crypto";
import { lstat, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { ToolError } from "../../../errors.ts";
import { fileFailure } from "../../../fileFailure.ts";

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** `sign-in` for "Sign in!"; empty where there is no letter or digit. */
export const fileNameOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 80);

/** A project's file, as the database knows it. Throws FILE_CHANGED if it is different or gone. */
export async function readKnown(project: string, file: string, hash: string | null): Promise<string> {
  const text = await readFile(await placeIn(project, file), "utf8").catch(() => undefined);
  if (text !== undefined && hashOf(text) === hash) return text;
  const what = text === undefined ? "is gone" : "was changed";
  throw new ToolError(
    "FILE_CHANGED",
    `${file} of ${project} ${what} since it was loaded; nothing was saved.`,
    `labwright import ${file} loads it as it is now; then repeat the call.`,
    { project, file },
  );
}

/**
 * The file that a path in a project leads to, through links. Throws PATH_DENIED for one outside of the project: whoever wrote the
 * project may have put a link there to a file of its user.
 */
async function placeIn(project: string, file: string): Promise<string> {
  const missing: string[] = [];
  let path = join(project, file);
  for (;;) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) {
      const place = join(real, ...missing);
      const root = await realpath(project).catch(() => project);
      if (place.startsWith(root + sep)) return place;
      break;
    }
    // A link that leads nowhere would be written through.
    if (path === dirname(path) || (await lstat(path).catch(() => undefined))) break;
    missing.unshift(basename(path));
    path = dirname(path);
  }
  throw new ToolError(
    "PATH_DENIED",
    `${file} of ${project} is outside of the project's folder, or a link leads there; nothing was read or saved.`,
    "Replace the link with the file itself.",
  );
}

/** Writes all or nothing. Throws INVALID_INPUT if this user cannot write. */
export async function writeProjectFile(project: string, file: string, text: string): Promise<void> {
  const path = join(project, file);
  const real = await placeIn(project, file);
  // Keeps the file's mode.
  const before = await stat(real).catch(() => undefined);
  const temporary = join(dirname(real), `.labwright-${randomUUID()}`);
  try {
    await mkdir(dirname(real), { recursive: true });
    await writeFile(temporary, text, { flag: "wx", mode: before?.mode });
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    const why = fileFailure(error, path)?.message ?? (error instanceof Error ? error.message : String(error));
    throw new ToolError(
      "INVALID_INPUT",
      `${file} of ${project} cannot be written, so nothing was saved: ${why}`,
      "Give this user the right to write there, then repeat the call.",
    );
  }
}
