import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { settleMs, treeMegabytes } from "./memory.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { percentile } from "./statistics.ts";

const listing = { clients: 20, each: 25 };
const waveClients = 200;
/** Ten reads of every part of the house; on a daemon that nothing changes, their answers never do. */
const reads: readonly [string, Record<string, unknown>][] = [
  ["list_hosts", {}],
  ["get_device_info", { device_id: "browser" }],
  ["list_userinterfaces", {}],
  ["list_testcases", {}],
  ["list_requirements", {}],
  ["get_coverage_summary", {}],
  ["get_uncovered_requirements", {}],
  ["list_alerts", {}],
  ["get_execution_results", {}],
  ["get_analysis_queue_status", {}],
];

const daemonSchema = z.object({ pid: z.int(), port: z.int(), token: z.string() });
type Daemon = z.output<typeof daemonSchema>;

async function withClient<T>(daemon: Daemon, use: (client: Client) => Promise<T>): Promise<T> {
  const mode = { pin: "2026-07-28" } as const;
  const client = new Client({ name: "labwright-bench", version: "1" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${daemon.token}` };
  const url = new URL(`http://127.0.0.1:${daemon.port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const atOnce = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

/** Milliseconds of each `tools/list`, by clients that all ask at once. */
async function listTimes(daemon: Daemon): Promise<number[]> {
  const times = await atOnce(listing.clients, () =>
    withClient(daemon, async (client) => {
      const own: number[] = [];
      for (let round = 0; round < listing.each; round++) {
        const start = performance.now();
        // From the server each time, whatever it says of how long a listing holds.
        await client.listTools(undefined, { cacheMode: "refresh" });
        own.push(performance.now() - start);
      }
      return own;
    }),
  );
  return times.flat();
}

/** How many calls of a wave failed or gave another answer than the first time. */
async function wave(daemon: Daemon, expected: readonly unknown[]): Promise<number> {
  const failures = await atOnce(waveClients, () =>
    withClient(daemon, async (client) => {
      let failed = 0;
      for (const [index, [name, args]] of reads.entries()) {
        const answer = await client.callTool({ name, arguments: args }).catch(() => undefined);
        if (answer?.isError || !isDeepStrictEqual(answer?.structuredContent, expected[index])) failed += 1;
      }
      return failed;
    }).catch(() => reads.length),
  );
  return failures.reduce((sum, failed) => sum + failed, 0);
}

/** One daemon under many HTTP clients: how long a listing takes, whether every answer is right, and what stays in memory. */
export async function measureLoad(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const bridge = sides.ours(dataDir);
  try {
    await bridge.initialize();
    await bridge.call("create_requirement", { name: "Sign in" });
    const daemon = daemonSchema.parse(JSON.parse(await readFile(join(dataDir, "daemon.json"), "utf8")));
    const expected = await withClient(daemon, async (client) => {
      const answers: unknown[] = [];
      for (const [name, args] of reads)
        answers.push((await client.callTool({ name, arguments: args })).structuredContent);
      return answers;
    });
    const times = await listTimes(daemon);
    const memory: number[] = [];
    let failed = 0;
    for (let count = 0; count < 3; count++) {
      failed += await wave(daemon, expected);
      await pause(settleMs);
      memory.push(await treeMegabytes(daemon.pid, undefined));
    }
    const [first = Number.NaN, ...later] = memory;
    note(
      `load: daemon after each wave: ${memory.map((megabytes) => `${megabytes.toFixed(0)} MB`).join(", ")}`,
    );
    return [
      { id: "load.list_http", ours: percentile(times, 0.95), runs: times.length },
      { id: "load.wrong", ours: failed, runs: 3 * waveClients * reads.length },
      { id: "load.memory", ours: Math.max(...later) / first, runs: memory.length },
    ];
  } finally {
    await bridge.end();
    await sides.stopDaemon(dataDir);
  }
}
