import { setTimeout as pause } from "node:timers/promises";
import type { Measurement } from "../rows.ts";
import type { Bench, Sides } from "../sides.ts";
import { alternate, median, ratiosOf } from "../statistics.ts";
import { beforeBuild } from "../step14/beforeBuild.ts";
import { daemonMegabytes } from "../step14/megabytes.ts";

/** The last commit without TVs. */
const lastWithout = "45fde0cc";
const rounds = { rounds: 11, warmUps: 1 };
/** A daemon's memory still falls in its first seconds. */
const settleMs = 3_000;

/** Starts daemons of a build one after another, each in a folder that was used before; `megabytes` grows with each. */
async function startsOf(sides: Sides, build: string) {
  const dataDir = await sides.newDataDir();
  const megabytes: number[] = [];
  const start = async (): Promise<number> => {
    const server = sides.ours(dataDir, { build });
    try {
      await server.initialize();
      await server.call("list_hosts", {});
      const ms = performance.now() - server.startedAt;
      await pause(settleMs);
      megabytes.push(await daemonMegabytes(sides, dataDir));
      return ms;
    } finally {
      await server.end();
      await sides.stopDaemon(dataDir);
    }
  };
  return { start, megabytes };
}

/** A daemon that has a browser and no TV, next to one of the commit before TVs: its start to the first answer, and its memory. */
export async function measureIdle({ sides }: Bench): Promise<Measurement[]> {
  const before = await beforeBuild(sides.root, sides.scratch, lastWithout);
  const [ours, theirs] = [await startsOf(sides, sides.root), await startsOf(sides, before)];
  const [now = [], then = []] = await alternate([ours.start, theirs.start], rounds);
  const counted = ({ megabytes }: typeof ours) => megabytes.slice(rounds.warmUps);
  const [memory, memoryThen] = [counted(ours), counted(theirs)];
  const rest = (one: readonly number[], other: readonly number[]) => ({
    runs: one.length,
    ratios: ratiosOf(one, other),
  });
  return [
    // A busy machine adds more to some starts than TVs do to all.
    { id: "idle.start", ours: Math.min(...now), theirs: Math.min(...then), ...rest(now, then) },
    // The collector may run a little earlier or later.
    { id: "idle.memory", ours: median(memory), theirs: median(memoryThen), ...rest(memory, memoryThen) },
  ];
}
