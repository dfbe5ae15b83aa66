import pg from "pg";
import { z } from "zod";
import { orphansOf } from "./processes.ts";
import type { Ledger } from "./workers.ts";
import { type Bridge, boxes, type World } from "./world.ts";

/** What must be none, each with what was found. */
export type Counts = {
  lost: string[];
  orphans: string[];
  stuckLeases: string[];
  wrongDevice: string[];
  openRuns: string[];
};

export const rows = {
  lost: "lost acknowledged rows",
  orphans: "orphan processes",
  stuckLeases: "stuck leases",
  wrongDevice: "wrong-device actions",
  openRuns: "open runs",
} as const satisfies Record<keyof Counts, string>;

/** So long a world may take to come to rest after the last fault: a lease of 3 s runs out, a run that stops has 10 s. */
const restMs = 60_000;

/** Counts once all work has ended. What ends by itself within a minute is not counted. */
export async function count(
  world: World,
  bridges: ReadonlyMap<string, Bridge>,
  ledger: Ledger,
): Promise<Counts> {
  await untilServed(bridges);
  const [openRuns, stuckLeases] = await Promise.all([
    untilNone(() => openRunsIn(world.databaseUrl)),
    stuckIn(world),
  ]);
  const orphans = await untilNone(async () => orphansIn(world, bridges));
  return {
    lost: await lostIn(world, ledger),
    orphans,
    stuckLeases,
    wrongDevice: wrongIn(world, ledger),
    openRuns,
  };
}

async function untilNone(look: () => Promise<string[]>): Promise<string[]> {
  const deadline = performance.now() + restMs;
  for (;;) {
    const found = await look();
    if (found.length === 0 || performance.now() > deadline) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Each bridge finds its daemon again, or starts it. */
async function untilServed(bridges: ReadonlyMap<string, Bridge>): Promise<void> {
  const unserved = await untilNone(async () => {
    const answers = await Promise.all(
      [...bridges].map(async ([name, bridge]) => ((await serves(bridge)) ? [] : [name])),
    );
    return answers.flat();
  });
  if (unserved.length > 0) throw new Error(`these bridges reach no daemon again: ${unserved.join(", ")}`);
}

async function serves(bridge: Bridge): Promise<boolean> {
  try {
    return !(await bridge.call("list_hosts")).isError;
  } catch {
    await bridge.renew().catch(() => {});
    return false;
  }
}

/** Devices that a new client cannot have. */
async function stuckIn({ hosts }: World): Promise<string[]> {
  const devices = hosts.flatMap((host) => [...host.browsers, ...boxes].map((device) => ({ host, device })));
  const stuck = await Promise.all(
    devices.map(({ host, device }) =>
      untilNone(async () => {
        const client = `counter/${device}`;
        const { result, error } = await host.call("take_control", { device_id: device }, client);
        if (error) return [`${host.name}/${device}: ${error.code} ${error.message}`];
        await host.call("release_control", { session_id: result.session_id }, client);
        return [];
      }).catch((error: unknown) => [`${host.name}/${device}: ${String(error)}`]),
    ),
  );
  return stuck.flat();
}

function orphansIn(world: World, bridges: ReadonlyMap<string, Bridge>): string[] {
  const daemons = world.hosts.flatMap((host) => host.daemonPid() ?? []);
  const roots = [...daemons, ...[...bridges.values()].map(({ pid }) => pid)];
  return orphansOf(world.processes(), roots).map(({ pid, command }) => `${pid} ${command.slice(0, 160)}`);
}

/** What lives still after every bridge was closed and every daemon reported to end. */
export async function leftAfterEnd(world: World): Promise<string[]> {
  for (const host of world.hosts) {
    const pid = host.daemonPid();
    if (pid !== undefined) process.kill(pid, "SIGTERM");
  }
  return untilNone(async () =>
    world.processes().map(({ pid, command }) => `${pid} ${command.slice(0, 160)}`),
  );
}

/** A press on a page of another device than was intended, or by another than who held the device. */
function wrongIn({ site }: World, { holds }: Ledger): string[] {
  const misplaced = site.presses.filter(({ device, meant }) => device !== meant);
  const intruders = holds.flatMap(({ device, who, from, to }) =>
    site.presses.filter(
      (press) => press.device === device && press.who !== who && press.at > from && press.at < to,
    ),
  );
  return [...misplaced, ...intruders].map(
    ({ device, meant, who }) => `${who} meant ${meant} and pressed on ${device}`,
  );
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function openRunsIn(url: string): Promise<string[]> {
  const open = await query(
    url,
    "select id, kind, name, status, host_name from executions where status in ('queued', 'running')",
  );
  return open.map((run) => Object.values(run).join(" "));
}

const names = z.array(z.object({ name: z.string() }));
const ids = z.array(z.object({ id: z.coerce.number() }));
const ends = z.array(z.object({ id: z.string(), status: z.string() }));

async function lostIn({ databaseUrl: url }: World, ledger: Ledger): Promise<string[]> {
  const stored = new Set(names.parse(await query(url, "select name from testcases")).map(({ name }) => name));
  const events = new Set(ids.parse(await query(url, "select id from events")).map(({ id }) => id));
  const runs = new Map(
    ends.parse(await query(url, "select id, status from executions")).map(({ id, status }) => [id, status]),
  );
  return [
    ...[...ledger.testcases].filter((name) => !stored.has(name)),
    ...[...ledger.events].filter((id) => !events.has(id)).map((id) => `event ${id}`),
    ...[...ledger.runs]
      .filter(([id, status]) => runs.get(id) !== status)
      .map(([id, status]) => `run ${id} ${status}, stored ${runs.get(id) ?? "not at all"}`),
  ];
}
