import { readdirSync, readFileSync } from "node:fs";

/**
 * Of all of them together: `memoryMb` is anonymous memory (Linux: RssAnon), `tasks` are threads, `writtenMb` is what they and
 * their ended children wrote to disks.
 */
export type TreeUsage = { memoryMb: number; tasks: number; writtenMb: number };

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

/** What a program and everything below it uses at this moment; nothing where there is no /proc. */
export function usageOf(pid: number): TreeUsage {
  const usage = { memoryMb: 0, tasks: 0, writtenMb: 0 };
  for (const one of treeOf(pid)) {
    const status = read(`/proc/${one}/status`);
    usage.memoryMb += Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
    usage.tasks += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    usage.writtenMb += Number(/^write_bytes: (\d+)/m.exec(read(`/proc/${one}/io`))?.[1] ?? 0) / 1_048_576;
  }
  return usage;
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
