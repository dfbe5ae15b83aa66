import { setTimeout as pause } from "node:timers/promises";
import { type Hostile, type HostileSite, hostileInputs, serveHostile } from "../../fixtures/hostile/index.ts";
import type { Measurement } from "../rows.ts";
import type { Bench, Sides } from "../sides.ts";
import { timed } from "../statistics.ts";
import type { StdioServer } from "../stdioServer.ts";
import { daemonMegabytes } from "./megabytes.ts";

const allowedMs = 100;
const allowedMegabytes = 64;
/** A busy machine holds a call at times, a hostile input each time. */
const attempts = 3;
/** An input that takes longer is left, with its daemon. */
const longestMs = 30_000;
const mostHarmful = 5;
const restMs = 8_000;
const everyMs = 10;

type Found = { heldMs: number; grownMegabytes: number; isOver: boolean };

/** The daemon with its two clients: one is hostile, the other must not feel it. */
class Lab {
  private startMegabytes = 0;

  private constructor(
    private readonly sides: Sides,
    readonly dataDir: string,
    readonly hostile: StdioServer,
    readonly other: StdioServer,
  ) {}

  static async open(sides: Sides, url: string): Promise<Lab> {
    const dataDir = await sides.newDataDir();
    const lab = new Lab(sides, dataDir, sides.ours(dataDir), sides.ours(dataDir));
    await lab.hostile.initialize();
    await lab.other.initialize();
    const actions = [{ command: "navigate_to_url", params: { url } }];
    await lab.hostile.call("execute_device_action", { actions });
    await lab.probe();
    lab.startMegabytes = await lab.megabytes();
    return lab;
  }

  probe = async (): Promise<number> => (await timed(() => this.other.call("list_hosts", {}))).ms;
  megabytes = (): Promise<number> => daemonMegabytes(this.sides, this.dataDir);

  grown = async (): Promise<number> =>
    (await this.megabytes().catch(() => Number.POSITIVE_INFINITY)) - this.startMegabytes;

  /** A daemon that is held hears no signal but this one. */
  async kill(): Promise<void> {
    const pid = await this.sides.daemonPid(this.dataDir);
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    await this.hostile.end();
    await this.other.end();
  }
}

/** The slowest of the other client's calls until `done`, or until one takes `longestMs`. */
async function slowestUntil(lab: Lab, isDone: () => boolean): Promise<number> {
  let slowest = 0;
  while (!isDone()) {
    const ms = await Promise.race([lab.probe().catch(() => longestMs), pause(longestMs, longestMs)]);
    slowest = Math.max(slowest, ms);
    if (ms >= longestMs) break;
    await pause(everyMs);
  }
  return slowest;
}

async function restOf(lab: Lab): Promise<number> {
  const until = performance.now() + restMs;
  return slowestUntil(lab, () => performance.now() > until);
}

async function send(lab: Lab, { calls }: Hostile): Promise<void> {
  for (const { tool, input } of calls) await lab.hostile.call(tool, input, { mayFail: true });
}

async function attempt(lab: Lab, hostile: Hostile, usualMs: number): Promise<Found> {
  const before = await lab.megabytes();
  let isOver = false;
  let peak = before;
  // Not waited for beyond its time: a daemon that is held never answers.
  const sent = send(lab, hostile)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  const until = performance.now() + longestMs;
  const watching = (async () => {
    while (!isOver && performance.now() < until) {
      peak = Math.max(peak, await lab.megabytes().catch(() => Number.POSITIVE_INFINITY));
      await pause(everyMs);
    }
  })();
  const slowest = await slowestUntil(lab, () => isOver || performance.now() > until);
  await Promise.race([sent, watching]);
  return { heldMs: Math.max(0, slowest - usualMs), grownMegabytes: peak - before, isOver };
}

type Totals = { tried: number; heldMs: number; megabytes: number };

const isHarmful = ({ heldMs, grownMegabytes, isOver }: Found) =>
  heldMs > allowedMs || grownMegabytes > allowedMegabytes || !isOver;

/** The best of some attempts, each with a daemon that answers. */
async function judge(lab: Lab, hostile: Hostile, usualMs: number): Promise<Found> {
  let best = await attempt(lab, hostile, usualMs);
  for (let again = 1; again < attempts && isHarmful(best) && best.isOver; again++) {
    const next = await attempt(lab, hostile, usualMs);
    best = {
      heldMs: Math.min(best.heldMs, next.heldMs),
      grownMegabytes: Math.min(best.grownMegabytes, next.grownMegabytes),
      isOver: next.isOver,
    };
  }
  return best;
}

function lineOf({ kind, name }: Hostile, { heldMs, grownMegabytes, isOver }: Found): string {
  const harm = `held a call for ${heldMs.toFixed(0)} ms and grew the daemon by ${grownMegabytes.toFixed(0)} MB`;
  return `hostile: ${kind} "${name}" ${harm}${isOver ? "" : ", and did not end"}`;
}

/** All, or while one works on them those whose kind or name has the word in BENCH_HOSTILE. */
const chosen = (site: HostileSite): Hostile[] =>
  hostileInputs(site).filter(({ kind, name }) => `${kind} ${name}`.includes(process.env.BENCH_HOSTILE ?? ""));

/** Each input in turn, of each kind until five did harm. A daemon that is still at work on one is replaced. */
async function judgeAll(open: () => Promise<Lab>, site: HostileSite, note: Bench["note"]): Promise<Totals> {
  let lab = await open();
  const totals: Totals = { tried: 0, heldMs: 0, megabytes: 0 };
  const harmful = { pattern: 0, expression: 0, document: 0, schema: 0 };
  try {
    const usualMs = await restOf(lab);
    note(`hostile: the slowest call at rest took ${usualMs.toFixed(0)} ms`);
    for (const hostile of chosen(site)) {
      if (harmful[hostile.kind] === mostHarmful) continue;
      const found = await judge(lab, hostile, usualMs);
      totals.tried += 1;
      totals.heldMs = Math.max(totals.heldMs, found.heldMs);
      totals.megabytes = Math.max(totals.megabytes, found.grownMegabytes);
      if (!isHarmful(found)) continue;
      note(lineOf(hostile, found));
      harmful[hostile.kind] += 1;
      if (found.isOver) continue;
      await lab.kill();
      lab = await open();
    }
    // A thread without work ends after 5 s.
    await restOf(lab);
    const grown = await lab.grown();
    // Mostly garbage that V8 has not collected yet, so it is told and not judged.
    note(`hostile: after all, the daemon has ${grown.toFixed(0)} MB more than before`);
    return totals;
  } finally {
    await lab.kill().catch(() => undefined);
  }
}

/** Every hostile input by one client, while another calls a cheap tool in a loop. */
export async function measureHostile({ sides, note }: Bench): Promise<Measurement[]> {
  const site = await serveHostile();
  try {
    const { tried, heldMs, megabytes } = await judgeAll(() => Lab.open(sides, site.url("/text")), site, note);
    return [
      { id: "hostile.tried", ours: tried, runs: tried },
      { id: "hostile.holds", ours: heldMs, runs: tried },
      { id: "hostile.memory", ours: megabytes, runs: tried },
    ];
  } finally {
    await site.close();
  }
}
