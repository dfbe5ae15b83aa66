import { writeSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Counts, count, leftAfterEnd, rows } from "./counts.ts";
import { planRound, planText } from "./plan.ts";
import { strike } from "./strike.ts";
import { type Ledger, newLedger, work } from "./workers.ts";
import { type Bridge, openWorld, type World } from "./world.ts";

const minutes = Number(process.env.FAULT_MINUTES ?? 0);
const shortRounds = 10;
const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1_000_000));
const say = (line: string) => writeSync(2, `${line}\n`);

let world: World;
const bridges = new Map<string, Bridge>();
const ledger = newLedger();
const total: Counts = { lost: [], orphans: [], stuckLeases: [], wrongDevice: [], openRuns: [] };

beforeAll(async () => {
  world = await openWorld();
  for (const host of world.hosts)
    for (const browser of host.browsers) bridges.set(`${host.name}/${browser}`, await host.openBridge());
  for (const bridge of bridges.values()) expect((await bridge.call("list_hosts")).error).toBeUndefined();
}, 180_000);
afterAll(async () => {
  for (const bridge of bridges.values()) await bridge.close().catch(() => {});
  await world.close();
}, 120_000);

async function playRound(round: number): Promise<void> {
  const plan = planRound(seed, round, world.hosts.length);
  say(`seed ${seed} round ${round}: ${planText(plan)}`);
  const stop = new AbortController();
  const worked = work(world, bridges, ledger, stop.signal);
  for (const fault of plan) {
    await new Promise((resolve) => setTimeout(resolve, fault.afterMs));
    if (!(await strike(fault, world, bridges))) say(`  nothing to strike: ${fault.kind}`);
  }
  stop.abort();
  await worked;
  const counts = await count(world, bridges, ledger);
  for (const key of keysOf(rows)) {
    for (const found of counts[key]) say(`  ${rows[key]}: ${found}`);
    total[key].push(...counts[key]);
  }
}

const keysOf = <Key extends string>(record: Record<Key, unknown>): Key[] => {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys;
};

function table(played: number, { answered, failed, testcases, events, runs, unexpected }: Ledger): string {
  const acknowledged = testcases.size + events.size + runs.size;
  return [
    `Fault suite, seed ${seed}: ${played} rounds, ${answered} turns done, ${failed} failed, ${acknowledged} rows acknowledged`,
    ...keysOf(rows).map((key) => `${rows[key].padEnd(26)} ${total[key].length}`),
    `${"answers without a reason".padEnd(26)} ${unexpected.length}`,
    ...[...new Set(unexpected)].slice(0, 10).map((text) => `  ${text}`),
  ].join("\n");
}

it(
  "faults of every kind lose no acknowledged row and leave no orphan, stuck lease, wrong action or open run",
  async () => {
    const deadline = performance.now() + minutes * 60_000;
    let played = 0;
    while (played < shortRounds || performance.now() < deadline) {
      await playRound(played);
      played += 1;
    }
    for (const bridge of bridges.values()) await bridge.close();
    total.orphans.push(...(await leftAfterEnd(world)));
    for (const left of total.orphans) say(`  ${rows.orphans}: ${left}`);
    say(table(played, ledger));
    expect(total).toEqual({ lost: [], orphans: [], stuckLeases: [], wrongDevice: [], openRuns: [] });
    expect(ledger.testcases.size).toBeGreaterThan(played);
    expect(world.site.presses.length).toBeGreaterThan(0);
  },
  (minutes + 20) * 60_000,
);
