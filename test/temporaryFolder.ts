import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "#controllers/programs/processTree.ts";

const begin = "labwright-tests-";

/**
 * Has this process, and what it starts, make temporary folders in one of its own. Removes those of processes that have ended.
 * Returns the function that removes its own.
 */
export function ownTemporaryFolder(): () => void {
  const parent = tmpdir();
  for (const name of readdirSync(parent).filter((one) => one.startsWith(begin))) {
    const pid = Number(name.slice(begin.length));
    if (pid === process.pid || !isRunning(pid)) remove(join(parent, name));
  }
  const folder = join(parent, `${begin}${process.pid}`);
  // PostgreSQL runs as another user, who passes through.
  mkdirSync(folder, { mode: 0o711 });
  process.env.TMPDIR = folder;
  return () => {
    process.env.TMPDIR = parent;
    remove(folder);
  };
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
