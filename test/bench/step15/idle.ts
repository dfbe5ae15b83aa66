import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { z } from "zod";
import type { Measurement } from "../rows.ts";
import type { Bench, Sides } from "../sides.ts";
import { alternate, median, ratiosOf } from "../statistics.ts";
import { beforeBuild } from "../step14/beforeBuild.ts";
import { daemonMegabytes } from "../step14/megabytes.ts";

/** The last commit without TVs. */
const lastWithoutTvs = "45fde0cc";
const rounds = { rounds: 11, warmUps: 1 };
/** A daemon's memory still falls in its first seconds. */
const settleMs = 3_000;

const inspector = "http://127.0.0.1:9229/json/list";
const targetsSchema = z.array(z.object({ webSocketDebuggerUrl: z.string() })).min(1);

/** Has a process of Node collect its garbage, through its inspector: what is left is what it holds. */
async function collect(pid: number): Promise<void> {
  process.kill(pid, "SIGUSR1");
  const targets = async () => targetsSchema.parse(await (await fetch(inspector)).json());
  let found = await targets().catch(() => undefined);
  for (let tries = 0; found === undefined && tries < 50; tries++) {
    await pause(100);
    found = await targets().catch(() => undefined);
  }
  const socket = new WebSocket(found?.[0]?.webSocketDebuggerUrl ?? inspector);
  try {
    await once(socket, "open");
    socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
    await once(socket, "message");
  } finally {
    socket.close();
  }
}

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
      await collect(Number(await sides.daemonPid(dataDir)));
      megabytes.push(await daemonMegabytes(sides, dataDir));
      return ms;
    } finally {
      await server.end();
      await sides.stopDaemon(dataDir);
    }
  };
  return { start, megabytes };
}

/** A daemon that has a browser and no TV, next to one of the commit before TVs. */
export const measureIdle = (bench: Bench) => measureIdleSince(lastWithoutTvs, bench);

/** A daemon with a browser, next to one of an earlier commit: its start to the first answer, and its memory. */
export async function measureIdleSince(commit: string, { sides }: Bench): Promise<Measurement[]> {
  const before = await beforeBuild(sides.root, sides.scratch, commit);
  const [ours, theirs] = [await startsOf(sides, sides.root), await startsOf(sides, before)];
  const [now = [], then = []] = await alternate([ours.start, theirs.start], rounds);
  const counted = ({ megabytes }: typeof ours) => megabytes.slice(rounds.warmUps);
  const [memory, memoryThen] = [counted(ours), counted(theirs)];
  const rest = (one: readonly number[], other: readonly number[]) => ({
    runs: one.length,
    ratios: ratiosOf(one, other),
  });
  return [
    // A busy machine adds more to some starts than a step of the product does to all.
    { id: "idle.start", ours: Math.min(...now), theirs: Math.min(...then), ...rest(now, then) },
    { id: "idle.memory", ours: median(memory), theirs: median(memoryThen), ...rest(memory, memoryThen) },
  ];
}
