import { readFile } from "node:fs/promises";
import { Agent, type RequestOptions, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { settleMs, treeMegabytes } from "./memory.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { percentile } from "./statistics.ts";

const listing = { clients: 20, each: 50, warmUps: 100 };
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

async function withClient<T>(
  daemon: Daemon,
  use: (client: Client) => Promise<T>,
  send: (url: string | URL, init?: RequestInit) => Promise<Response> = fetch,
): Promise<T> {
  const mode = { pin: "2026-07-28" } as const;
  const client = new Client({ name: "labwright-bench", version: "1" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${daemon.token}` };
  const url = new URL(`http://127.0.0.1:${daemon.port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: send }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const atOnce = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

type Sent = { options: RequestOptions; body: string };

/** The `tools/list` that a client of the SDK sends. */
async function listingOf(daemon: Daemon): Promise<Sent> {
  let sent: Sent | undefined;
  await withClient(
    daemon,
    (client) => client.listTools(undefined, { cacheMode: "refresh" }),
    (url, init) => {
      const body = init?.body?.toString() ?? "";
      const { hostname, port, pathname: path } = new URL(url);
      const headers = Object.fromEntries(new Headers(init?.headers));
      if (body.includes("tools/list"))
        sent = { options: { hostname, port, path, method: "POST", headers }, body };
      return fetch(url, init);
    },
  );
  if (sent === undefined) throw new Error("The client sent no tools/list.");
  return sent;
}

/** Hands each piece of an answer to `take`, and ends with the last one. */
function answerTo({ options, body }: Sent, agent: Agent, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, agent }, (response) => {
      response.on("data", take);
      response.once("end", resolve);
      response.once("error", reject);
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

async function bytesOf(sent: Sent, agent: Agent): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await answerTo(sent, agent, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

/** Whether the answer is `right`, looked at as it comes: every byte is compared and none is kept. */
async function isAnswered(sent: Sent, agent: Agent, right: Buffer): Promise<boolean> {
  let read = 0;
  let same = true;
  await answerTo(sent, agent, (chunk) => {
    same &&= right.subarray(read, read + chunk.length).equals(chunk);
    read += chunk.length;
  });
  return same && read === right.length;
}

/**
 * Milliseconds of each `tools/list`, by clients that all ask at once, until the last byte of the right answer. They share
 * this one process, so what a client does with the answer (its validation takes longer than the answer) is left out: it
 * would count twenty times over.
 */
async function listTimes(daemon: Daemon): Promise<number[]> {
  const sent = await listingOf(daemon);
  const agent = new Agent({ keepAlive: true, maxSockets: listing.clients });
  const right = await bytesOf(sent, agent);
  if (!right.includes('"execute_testcase"')) throw new Error("The listing lacks a tool.");
  const times = await atOnce(listing.clients, async () => {
    const own: number[] = [];
    for (let round = -listing.warmUps; round < listing.each; round++) {
      const start = performance.now();
      const isRight = await isAnswered(sent, agent, right);
      if (round >= 0) own.push(performance.now() - start);
      if (!isRight) throw new Error("Two listings differ.");
    }
    return own;
  });
  agent.destroy();
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
