import { existsSync, readdirSync, readFileSync } from "node:fs";

export type Process = { pid: number; parent: number; command: string };

function readProcess(pid: number, marker: string): Process | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    const isMarked = `${command}\0${readFileSync(`/proc/${pid}/environ`, "utf8")}`.includes(marker);
    if (!isMarked) return undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    if (state === "Z") return undefined;
    return { pid, parent: Number(parent), command: command.replaceAll("\0", " ").trim() };
  } catch {
    // It ended, or belongs to another client.
    return undefined;
  }
}

/**
 * The living processes whose arguments or environment hold `marker`: all that a world started, and what those started. Each
 * argument and each value ends with a null character. None where there is no /proc.
 */
export const markedProcesses = (marker: string): Process[] =>
  (existsSync("/proc") ? readdirSync("/proc") : [])
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => readProcess(Number(name), marker) ?? []);

/** The crash handler of a Chromium leaves its parent on purpose, and ends with its browser: counted when all has ended. */
const leavesItsParent = ({ command }: Process) => command.includes("chrome_crashpad_handler");

/** Those of which no forefather is among `roots`. */
export function orphansOf(all: readonly Process[], roots: readonly number[]): Process[] {
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const isKept = (pid: number): boolean => {
    if (roots.includes(pid)) return true;
    const parent = parents.get(pid);
    return parent !== undefined && isKept(parent);
  };
  return all.filter((one) => !isKept(one.pid) && !leavesItsParent(one));
}

export function belowOf(all: readonly Process[], root: number): Process[] {
  const elsewhere = new Set(orphansOf(all, [root]));
  return all.filter((one) => one.pid !== root && !elsewhere.has(one));
}
