import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRunning } from "./processTree.ts";

/** Where the cgroups of version 2 are mounted when a machine uses that version alone. */
const standardRoot = "/sys/fs/cgroup";
const needed = ["memory", "pids"];
const begin = "labwright-";

/** Limits that the kernel keeps for all processes of one program together. */
export type Cgroup = {
  /** The file that a process writes 0 to in order to be in it. */
  entry: string;
  /** What its processes have of memory: their own, what they share, and files in memory. Undefined when the kernel does not say. */
  memoryMb(): number | undefined;
  /** Whether the kernel ended processes since they took more memory than they may. */
  ranOut(): boolean;
  /** Ends what is left in it, and removes it. */
  remove(): Promise<void>;
};
export type Cgroups = { make(limits: { memoryMb: number; tasks: number }): Cgroup | undefined };

const removeTries = 50;
const removeMs = 20;

/**
 * A cgroup in which this process may make others with limits on memory and processes: next to its own or above, where root
 * or a service manager (systemd's `Delegate=`) lets it. Undefined where it may not; the machine is then as it was.
 */
export function findCgroups(
  root = standardRoot,
  controllers: readonly string[] = needed,
): Cgroups | undefined {
  if (!existsSync(join(root, "cgroup.controllers"))) return undefined;
  const own = /^0::(\/.*)$/m.exec(read("/proc/self/cgroup"))?.[1];
  if (own === undefined) return undefined;
  for (let place = join(root, own); place.startsWith(root); place = dirname(place)) {
    const folder = join(place, `${begin}${process.pid}`);
    if (isUsable(folder, controllers)) {
      removeLeft(place);
      process.once("exit", () => removeNow(folder));
      let count = 0;
      return { make: (limits) => make(join(folder, String(count++)), limits) };
    }
  }
  return undefined;
}

/** Only a cgroup without processes of its own can give its controllers to others, so each program gets one inside of ours. */
function isUsable(folder: string, controllers: readonly string[]): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    const has = read(join(folder, "cgroup.controllers")).trim().split(" ");
    if (!controllers.every((one) => has.includes(one))) throw new Error("controllers are missing");
    if (controllers.length > 0) {
      const wanted = controllers.map((one) => `+${one}`).join(" ");
      writeFileSync(join(folder, "cgroup.subtree_control"), wanted);
    }
    return true;
  } catch {
    removeNow(folder);
    return false;
  }
}

/** Undefined when the kernel refuses it. */
function make(folder: string, { memoryMb, tasks }: { memoryMb: number; tasks: number }): Cgroup | undefined {
  const limits = { "memory.max": memoryMb * 1_048_576, "memory.swap.max": 0, "memory.oom.group": 1 };
  try {
    mkdirSync(folder);
    for (const [file, value] of Object.entries({ ...limits, "pids.max": tasks })) {
      const path = join(folder, file);
      // Not every kernel has swap, and before 4.19 none ended a cgroup as a whole.
      if (existsSync(path)) writeFileSync(path, String(value));
    }
  } catch {
    removeNow(folder);
    return undefined;
  }
  return {
    entry: join(folder, "cgroup.procs"),
    memoryMb() {
      const stat = read(join(folder, "memory.stat"));
      const bytes = [/^anon (\d+)$/m, /^shmem (\d+)$/m].map((line) => Number(line.exec(stat)?.[1]));
      const sum = bytes.reduce((total, part) => total + part, 0) / 1_048_576;
      return Number.isNaN(sum) ? undefined : sum;
    },
    ranOut: () => /^oom_kill [1-9]/m.test(read(join(folder, "memory.events"))),
    async remove() {
      for (let tried = 0; tried < removeTries && !removeNow(folder); tried++)
        await new Promise((resolve) => setTimeout(resolve, removeMs));
    },
  };
}

/** Says whether it is gone. Ends its processes, which takes a moment. */
function removeNow(folder: string): boolean {
  try {
    if (existsSync(join(folder, "cgroup.kill"))) writeFileSync(join(folder, "cgroup.kill"), "1");
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}

/** Those of processes that were killed. */
function removeLeft(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = name.startsWith(begin) ? Number(name.slice(begin.length)) : 0;
    if (!(pid > 0) || isRunning(pid)) continue;
    const folder = join(place, name);
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) removeNow(join(folder, entry.name));
    removeNow(folder);
  }
}

/** Empty when it cannot be read. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
