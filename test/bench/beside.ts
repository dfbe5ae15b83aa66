import { rm } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { buildBefore } from "./before.ts";
import { clicks, ourDriver } from "./interaction.ts";
import { ourFlow } from "./loginTokens.ts";
import { settleMs, treeMegabytes } from "./memory.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { hosts, list, time } from "./startup.ts";
import { alternate, median, ratioInterval, ratiosOf, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

/** The product as it was before step 7, before step 9, and before step 10. */
const beforeDrivers = "d20dbe3";
const beforeAndroid = "d98a26f";
const beforeReader = "184a94e";

const clickRounds = { rounds: 9, warmUps: 4 };
/** Tens of looks, as a session has; a click opens a new page each time, so its rounds are fewer. */
const lookRounds = { rounds: 40, warmUps: 10 };

/**
 * Folders of two builds: this one, and the one before. A ratio is told from one that is greater by `widest` when its interval
 * is no wider than that.
 */
type Builds = {
  sides: Sides;
  products: readonly [string, string];
  widest: number;
  note(line: string): void;
};
type Running = { server: StdioServer; dataDir: string };
/** Figures of this build and of the one before, from one round. */
type Round = (round: number) => Promise<readonly [number, number]>;
type Limits = { id: string; least: number; most: number; minutes: number };

/** This build beside the one of an earlier commit: a click, the tokens of a login, memory at rest, and the start. */
export async function measureBeside(
  sides: Sides,
  url: (path: string) => string,
  note: (line: string) => void,
): Promise<Measurement[]> {
  const products = [sides.root, await buildBefore(sides, beforeDrivers)] as const;
  const builds: Builds = { sides, products, widest: 0.05, note };
  return [
    await compare(builds, { id: "before.click", least: 9, most: 40, minutes: 5 }, clickRound(builds, url)),
    await compare(
      builds,
      { id: "before.tokens", least: 3, most: 9, minutes: 2 },
      tokenRound(builds, url("/login")),
    ),
    await compare(builds, { id: "before.memory", least: 7, most: 25, minutes: 4 }, memoryRound(builds)),
    ...(await compareStarts(builds, "before")),
  ];
}

/** This build, with no Android device, beside the one that knew none: memory at rest, and the start. */
export async function measureIdle(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const products = [sides.root, await buildBefore(sides, beforeAndroid)] as const;
  const builds: Builds = { sides, products, widest: 0.03, note };
  return [
    await compare(builds, { id: "idle.memory", least: 7, most: 25, minutes: 4 }, memoryRound(builds)),
    ...(await compareStarts(builds, "idle")),
  ];
}

/** The reader, which stands outside the page, beside the one that the page could reach: a click and a look. */
export async function measureReader(
  sides: Sides,
  url: (path: string) => string,
  note: (line: string) => void,
): Promise<Measurement[]> {
  const products = [sides.root, await buildBefore(sides, beforeReader)] as const;
  const builds: Builds = { sides, products, widest: 0.05, note };
  return [
    await compare(builds, { id: "reader.click", least: 9, most: 40, minutes: 5 }, clickRound(builds, url)),
    await compare(builds, { id: "reader.look", least: 9, most: 40, minutes: 5 }, lookRound(builds, url)),
  ];
}

/**
 * Goes on until the ratio of the medians is known well enough, within the limits. A note says its interval. Throws when the
 * time does not suffice for the least rounds.
 */
async function compare(
  { note, widest }: Builds,
  { id, least, most, minutes }: Limits,
  run: Round,
): Promise<Measurement> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const end = performance.now() + minutes * 60_000;
  let [from, to] = [0, Number.POSITIVE_INFINITY];
  while (ours.length < most && performance.now() < end && (ours.length < least || to - from > widest)) {
    const [own, other] = await run(ours.length);
    ours.push(own);
    theirs.push(other);
    [from, to] = ratioInterval(ours, theirs);
  }
  if (ours.length < least) throw new Error(`${id} had ${ours.length} of ${least} rounds in ${minutes} min`);
  const told = to - from <= widest ? "" : `; the machine was too noisy to tell ${widest * 100} %`;
  note(
    `${id}: 95 % interval of the ratio ${from.toFixed(3)} to ${to.toFixed(3)} after ${ours.length} rounds${told}`,
  );
  return {
    ...{ id, ours: median(ours), theirs: median(theirs) },
    ...{ runs: ours.length, ratios: ratiosOf(ours, theirs) },
  };
}

/** A process keeps the speed that its start gave it, so each round has a new daemon and a new browser on either side. */
const clickRound =
  (builds: Builds, url: (path: string) => string): Round =>
  () =>
    withBoth(builds, async (both) => {
      const times = await alternate(
        both.map(({ server }) => clicks(ourDriver(server), url)),
        clickRounds,
      );
      return [median(times[0] ?? []), median(times[1] ?? [])];
    });

const lookRound =
  (builds: Builds, url: (path: string) => string): Round =>
  () =>
    withBoth(builds, async (both) => {
      const drivers = both.map(({ server }) => ourDriver(server));
      for (const driver of drivers) await driver.open(url("/many"));
      const look = (driver: (typeof drivers)[number]) => async () => (await timed(() => driver.look())).ms;
      const times = await alternate(drivers.map(look), lookRounds);
      return [median(times[0] ?? []), median(times[1] ?? [])];
    });

const tokenRound =
  (builds: Builds, url: string): Round =>
  () =>
    withBoth(builds, async ([own, other]) => [
      await ourFlow(own.server, url),
      await ourFlow(other.server, url),
    ]);

/** Both start and rest at the same time. */
const memoryRound =
  (builds: Builds): Round =>
  () =>
    withBoth(builds, async (both) => {
      await Promise.all(both.map(({ server }) => server.call("list_testcases", {})));
      await pause(settleMs);
      const [own, other] = await Promise.all(both.map(({ dataDir }) => atRest(builds, dataDir)));
      return [own ?? Number.NaN, other ?? Number.NaN];
    });

async function atRest({ sides }: Builds, dataDir: string): Promise<number> {
  const daemon = await sides.daemonPid(dataDir);
  if (daemon === undefined) throw new Error("The daemon left no daemon.json.");
  return treeMegabytes(daemon, undefined);
}

/** To the listing, which the bridge alone answers, and to the first call, for which the daemon and its database start. */
async function compareStarts(builds: Builds, suite: string): Promise<Measurement[]> {
  const { sides, products } = builds;
  const dataDirs = [await sides.newDataDir(), await sides.newDataDir()] as const;
  const listed = (side: 0 | 1) => time(sides.ours(dataDirs[side], { product: products[side] }), list);
  const answered = async (side: 0 | 1): Promise<number> => {
    await sides.stopDaemon(dataDirs[side]);
    return time(sides.ours(dataDirs[side], { product: products[side] }), hosts);
  };
  // The first start makes the database.
  for (const round of [0, 1]) await inTurn(answered)(round);
  const rows = [
    await compare(builds, { id: `${suite}.list`, least: 15, most: 81, minutes: 2 }, inTurn(listed)),
    await compare(builds, { id: `${suite}.start`, least: 9, most: 41, minutes: 4 }, inTurn(answered)),
  ];
  for (const dataDir of dataDirs) await sides.stopDaemon(dataDir);
  return rows;
}

/** One after the other; which one is first changes with each round. */
const inTurn =
  (measure: (side: 0 | 1) => Promise<number>): Round =>
  async (round) => {
    if (round % 2 === 0) return [await measure(0), await measure(1)];
    const other = await measure(1);
    return [await measure(0), other];
  };

/** A new data folder and bridge of either build, ready for calls; nothing of them is left afterwards. */
async function withBoth<Result>(
  { sides, products }: Builds,
  use: (both: readonly [Running, Running]) => Promise<Result>,
): Promise<Result> {
  const started = async (product: string): Promise<Running> => {
    const dataDir = await sides.newDataDir();
    return { dataDir, server: sides.ours(dataDir, { product }) };
  };
  const both = [await started(products[0]), await started(products[1])] as const;
  try {
    for (const { server } of both) await server.initialize();
    return await use(both);
  } finally {
    for (const { server } of both) await server.end();
    for (const { dataDir } of both) {
      await sides.stopDaemon(dataDir);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
