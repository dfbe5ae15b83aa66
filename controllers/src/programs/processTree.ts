import { readdirSync, readFileSync, statfsSync } from "node:fs";

/**
 * Of all of them together: `memoryMb` is memory of their own, memory that they share, and files that they hold in memory;
 * `files` are such files and folders; `tasks` are threads; `writtenMb` is what they and their ended children wrote to disks.
 */
export type TreeUsage = { memoryMb: number; files: number; tasks: number; writtenMb: number };

/** A tree that grows while it is read must not hold us up. */
const mostProcesses = 2_000;

/** A program and everything that it started, itself first. Only itself where there is no /proc. */
function treeOf(pid: number): number[] {
  const found = [pid];
  for (const parent of found) {
    if (found.length >= mostProcesses) break;
    found.push(...childrenOf(parent));
  }
  return found;
}

/**
 * What a program and everything below it uses at this moment; nothing where there is no /proc. `inMemory` are folders in
 * memory that belong to them alone, as they see them.
 */
export function usageOf(pid: number, inMemory: readonly string[] = []): TreeUsage {
  const tree = treeOf(pid);
  const usage = { tasks: 0, writtenMb: 0 };
  let [ownMb, sharedMb] = [0, 0];
  for (const one of tree) {
    const status = read(`/proc/${one}/status`);
    ownMb += megabytes(status, "RssAnon");
    // Each process counts all that it shares. Its part alone is in smaps_rollup, whose reading holds us for 1 ms a megabyte.
    sharedMb += megabytes(status, "RssShmem");
    usage.tasks += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    usage.writtenMb += Number(/^write_bytes: (\d+)/m.exec(read(`/proc/${one}/io`))?.[1] ?? 0) / 1_048_576;
  }
  const { heldMb, files } = heldIn(tree, inMemory);
  // Shared memory may be a file in memory that is mapped.
  return { ...usage, files, memoryMb: ownMb + Math.max(sharedMb, heldMb) };
}

const megabytes = (text: string, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1_024;

/** Read through the first process that has the folders. */
function heldIn(tree: readonly number[], folders: readonly string[]): { heldMb: number; files: number } {
  const held = { heldMb: 0, files: 0 };
  for (const one of tree.slice(1)) {
    try {
      for (const folder of folders) {
        const { blocks, bfree, bsize, files, ffree } = statfsSync(`/proc/${one}/root${folder}`);
        held.heldMb += ((blocks - bfree) * bsize) / 1_048_576;
        held.files += files - ffree;
      }
      return held;
    } catch {
      // It is not in its place yet, or has ended.
    }
  }
  return { heldMb: 0, files: 0 };
}

/** Says whether there is a program with this id, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Ends a program and everything below it that can still be found. */
export function killTree(pid: number): void {
  for (const one of treeOf(pid)) {
    try {
      process.kill(one, "SIGKILL");
    } catch {
      // It ended by itself, which is what was wanted.
    }
  }
}

function childrenOf(pid: number): number[] {
  return tasksOf(pid).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean).map(Number),
  );
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty when the process is gone. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
