import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { median } from "./statistics.ts";

const rounds = 5;
/** The daemon's memory still falls in its first seconds. */
const settleMs = 3_000;

export type Process = { pid: number; parent: number; megabytes: number; command: string };

async function processes(): Promise<Process[]> {
  const columns = "pid=,ppid=,rss=,args=";
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", columns], { maxBuffer: 50_000_000 });
  return stdout
    .trim()
    .split("\n")
    .map((line) => {
      const [pid = 0, parent = 0, kilobytes = 0] = line.trim().split(/\s+/, 3).map(Number);
      return { pid, parent, megabytes: kilobytes / 1024, command: line };
    });
}

/** The descendants of a process, without the tree of `except`. */
export async function processesBelow(root: number, except?: number): Promise<Process[]> {
  const all = await processes();
  const below = (parent: number): Process[] =>
    all
      .filter((one) => one.parent === parent && one.pid !== except)
      .flatMap((one) => [one, ...below(one.pid)]);
  return below(root);
}

/** Resident memory of a process and its descendants, without the tree of `except`. */
export async function treeMegabytes(root: number, except?: number): Promise<number> {
  const own = (await processes()).filter(({ pid }) => pid === root);
  return [...own, ...(await processesBelow(root, except))].reduce((sum, { megabytes }) => sum + megabytes, 0);
}

/** After one call that reaches the database and no browser; child processes such as the lock's holder count too. */
export async function measureMemory(sides: Sides): Promise<Measurement[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const dataDir = await sides.newDataDir();
    const server = sides.ours(dataDir);
    const other = sides.theirs();
    try {
      for (const side of [server, other]) {
        await side.initialize();
        await side.listTools();
      }
      await server.call("list_testcases", {});
      await pause(settleMs);
      const daemon = await sides.daemonPid(dataDir);
      if (daemon === undefined) throw new Error("The daemon left no daemon.json.");
      ours.push((await treeMegabytes(server.pid, daemon)) + (await treeMegabytes(daemon)));
      theirs.push(await treeMegabytes(other.pid));
    } finally {
      await server.end();
      await other.end();
      await sides.stopDaemon(dataDir);
    }
  }
  return [{ id: "memory.both", ours: median(ours), theirs: median(theirs), runs: rounds }];
}
