import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "#controllers/programs/processTree.ts";

const begin = "labwright-tests-";
/** A database makes a thousand files, which on a disk can cost a second of a core. */
const memory = "/dev/shm";
const roomyBytes = 8e9;

function roomiest(): string {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > roomyBytes ? memory : tmpdir();
}

/**
 * Has this process, and what it starts, make temporary folders in one of its own, in memory where there is room. Removes those of processes that have ended.
 * Returns the function that removes its own.
 */
export function ownTemporaryFolder(): () => void {
  const parent = roomiest();
  const inherited = process.env.TMPDIR;
  for (const name of readdirSync(parent).filter((one) => one.startsWith(begin))) {
    const pid = Number(name.slice(begin.length));
    if (pid === process.pid || !isRunning(pid)) remove(join(parent, name));
  }
  const folder = join(parent, `${begin}${process.pid}`);
  // PostgreSQL runs as another user, who passes through.
  mkdirSync(folder, { mode: 0o711 });
  process.env.TMPDIR = folder;
  return () => {
    if (inherited === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = inherited;
    remove(folder);
  };
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
