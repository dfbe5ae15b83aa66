import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { programBundle } from "../../fixtures/bundle.ts";

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
  return chromiumPids((command) => !command.includes("--type="));
}

const chromiumPids = (isWanted: (command: string) => boolean): number[] =>
  processesBelow(process.pid).filter((pid) => {
    const command = commandOf(pid);
    return /--remote-debugging-pipe|--type=/.test(command) && isWanted(command);
  });

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

const kill = (pids: readonly number[]) => {
  for (const pid of pids) process.kill(pid, "SIGKILL");
};

export const killBrowsers = () => kill(browserPids());

/** Crashes every tab. */
export const killRenderers = () => kill(chromiumPids((command) => command.includes("--type=renderer")));

/** Node 20 runs no TypeScript; the bundle lies where it finds Playwright. */
export async function bundled(name: string): Promise<string> {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const outfile = at(`../../../node_modules/.cache/labwright/${name}-${process.pid}.mjs`);
  await build({
    ...programBundle,
    entryPoints: [at(`${name}.ts`)],
    outfile,
  });
  return outfile;
}
