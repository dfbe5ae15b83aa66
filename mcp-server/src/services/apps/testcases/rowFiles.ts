import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, posix } from "node:path";
import type { Source } from "../../../domain/source.ts";
import { ToolError } from "../../../errors.ts";
import { createUploads, type Uploads } from "../../policy/uploads.ts";

export type RowFiles = Pick<Uploads, "readText">;

/**
 * The files of rows of a test case: next to the test's own file, else among the uploads. A file of a project is read only
 * for a test whose file is there as it was loaded, so that a caller cannot name other files of this machine.
 */
export function rowFiles({ project, file, file_hash }: Source, uploads: RowFiles): RowFiles {
  if (file === null) return uploads;
  return {
    async readText(name) {
      const place = posix.join(posix.dirname(file), name);
      const isHere = !isAbsolute(name) && /\.(?:csv|json)$/i.test(name) && existsSync(join(project, place));
      if (!isHere) return uploads.readText(name).catch((error: unknown) => throwMissing(error, name, file));
      const text = await readFile(join(project, file)).catch(() => "");
      if (createHash("sha256").update(text).digest("hex") !== file_hash)
        throw new ToolError(
          "FILE_CHANGED",
          `${file} was changed since it was loaded, so ${name} was not read.`,
          `labwright import ${file} loads it as it is now.`,
        );
      return createUploads(project).readText(place);
    },
  };
}

function throwMissing(error: unknown, name: string, file: string): never {
  const isMissing = error instanceof Error && "code" in error && error.code === "PATH_DENIED";
  if (!isMissing) throw error;
  const folder = posix.dirname(file);
  throw new ToolError(
    "PATH_DENIED",
    `${folder} has no "${name}". ${error.message}`,
    `Put it next to ${file}.`,
  );
}
