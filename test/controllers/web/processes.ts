import { readdirSync, readFileSync } from "node:fs";

/** Processes whose parent is, at whatever distance, `ancestor`. Linux only, as is the test bench. */
export function processesBelow(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (Number.isInteger(pid)) parents.set(pid, parentOf(pid));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === ancestor || (parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

/** A zombie has ended; only its parent has not looked yet. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

/** The browsers that this process started, without their helpers. */
export function browserPids(): number[] {
  return processesBelow(process.pid).filter((pid) => {
    const command = commandOf(pid);
    return command.includes("--remote-debugging-pipe") && !command.includes("--type=");
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

export function killBrowsers(): void {
  for (const pid of browserPids()) process.kill(pid, "SIGKILL");
}
