import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { median } from "./statistics.ts";

const rounds = 5;
/** The daemon's memory still falls in its first seconds; what counts is the one that stays. */
export const settleMs = 3_000;

type Process = { pid: number; parent: number; megabytes: number };

async function processes(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,rss="]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0, kilobytes = 0]) => ({ pid, parent, megabytes: kilobytes / 1024 }));
}

/** Resident memory of a process and everything below it, apart from what is below `without`. */
export async function treeMegabytes(root: number, without: number | undefined): Promise<number> {
  const all = await processes();
  const below = (pid: number): number =>
    pid === without
      ? 0
      : all.filter((p) => p.pid === pid).reduce((sum, p) => sum + p.megabytes, 0) +
        all.filter((p) => p.parent === pid && p.pid !== pid).reduce((sum, p) => sum + below(p.pid), 0);
  return below(root);
}

/** After one call that reaches the database and no browser; child processes such as the lock's holder count too. */
export async function measureMemory(sides: Sides): Promise<Measurement[]> {
  const bridges: number[] = [];
  const daemons: number[] = [];
  const others: number[] = [];
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
      bridges.push(await treeMegabytes(server.pid, daemon));
      daemons.push(await treeMegabytes(daemon, undefined));
      others.push(await treeMegabytes(other.pid, undefined));
    } finally {
      await server.end();
      await other.end();
      await sides.stopDaemon(dataDir);
    }
  }
  return [
    { id: "memory.bridge", ours: median(bridges), runs: rounds },
    { id: "memory.daemon", ours: median(daemons), runs: rounds },
    {
      id: "memory.both",
      ours: median(bridges.map((bridge, round) => bridge + (daemons[round] ?? Number.NaN))),
      theirs: median(others),
      runs: rounds,
    },
  ];
}
