import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The folder of a project that has its apps and tests. */
export const projectFiles = "labwright";

export const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The project that a folder is in, or the folder itself, whose files may be named one by one. */
export const projectAt = (folder: string): string => findProject(folder) ?? realpathSync(folder);

/** The project that a folder is in: the nearest one at or above it that has apps or tests. Undefined in none. */
export function findProject(folder: string): string | undefined {
  let at = resolve(folder);
  for (;;) {
    const own = join(at, projectFiles);
    if (isFolder(join(own, "apps")) || isFolder(join(own, "tests"))) return realpathSync(at);
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
}
