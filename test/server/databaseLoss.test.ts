import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, launchDaemon, ownDaemons } from "../fixtures/daemonProcess.ts";
import { type Postgres, startPostgres } from "../fixtures/postgres.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { root: folder, start } = ownDaemons("loss");
const config = (host: string) => `server: { name: ${host} }\ndevices: [{ name: box, model: simulated }]\n`;

const sleeper = {
  name: "sleeper",
  blocks: [
    { id: "start", type: "start" },
    { id: "wait", type: "sleep", duration_ms: 120_000 },
    { id: "check", type: "verification", command: "text_visible", params: { text: "Welcome home" } },
    { id: "done", type: "success" },
  ],
  edges: [
    { from: "start", to: "wait", on: "success" },
    { from: "wait", to: "check", on: "success" },
    { from: "check", to: "done", on: "success" },
  ],
};

/** A run that sleeps for two minutes, under way. */
async function startRun(daemon: DaemonProcess): Promise<string> {
  expect((await daemon.call("save_testcase", { testcase: sleeper })).success).toBe(true);
  const run = await daemon.call("execute_testcase", { testcase: "sleeper", wait_ms: 0 });
  expect(run.result).toMatchObject({ status: "running" });
  return String(run.result.execution_id);
}

describe("the embedded database's thread", () => {
  /** Ends the thread on a signal from outside of the product: Node's own `terminate`. */
  const killer = `
    import module from "node:module";
    const threads = module.createRequire(import.meta.url)("node:worker_threads");
    const { Worker } = threads;
    threads.Worker = class extends Worker {
      constructor(...given) {
        super(...given);
        process.once("SIGUSR2", () => void this.terminate());
      }
    };
    module.syncBuiltinESMExports();`;

  it("dies, and the daemon ends and leaves its place to the next one", async () => {
    const preload = join(folder, "killer.mjs");
    writeFileSync(preload, killer);
    const dataDir = join(folder, "thread");
    const first = await start({ dataDir, config: config("lab"), node: ["--import", preload] });
    await startRun(first);
    first.signal("SIGUSR2");
    expect(await first.ended).toBe(2);
    expect(first.said()).toContain("embedded database");
    expect(existsSync(join(dataDir, "daemon.json"))).toBe(false);
    const next = await start({ dataDir });
    expect((await next.call("list_testcases")).result.testcases).toMatchObject([{ name: "sleeper" }]);
    const runs = await next.call("get_execution_results", {});
    expect(JSON.stringify(runs.result)).toContain('"error"');
  });
});

describe("a PostgreSQL server", () => {
  let postgres: Postgres;
  let env: { DATABASE_URL: string };
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  const newDatabase = async () => {
    env = { DATABASE_URL: await postgres.newDatabase() };
  };

  it("killed with -9 stops the run and fails calls; back again, all goes on in the same daemon", async () => {
    await newDatabase();
    const daemon = await start({ dataDir: join(folder, "gone"), config: config("lab"), env });
    const executionId = await startRun(daemon);
    const feed = await openFeed(daemon);
    await postgres.crash();
    await expect
      .poll(() => daemon.call("list_testcases"), within)
      .toMatchObject({
        success: false,
        error: { code: "STORAGE_FAILED", hint: expect.stringContaining("database") },
      });
    // The run has let go of its device before the database is back.
    await expect
      .poll(() => daemon.call("take_control"), within)
      .toMatchObject({ error: { code: "STORAGE_FAILED" } });
    await postgres.restart();
    await expect
      .poll(() => daemon.call("get_execution_status", { execution_id: executionId }), within)
      .toMatchObject({ result: { status: "error", reason: { code: "STORAGE_FAILED" } } });
    expect(await daemon.call("take_control")).toMatchObject({ success: true });
    const seen = feed.text().length;
    expect(await daemon.call("publish_event", { type: "lab.test", payload: {} })).toMatchObject({
      success: true,
    });
    await expect.poll(() => feed.text().slice(seen), within).toContain("lab.test");
    feed.close();
    expect(daemon.isAlive()).toBe(true);
  });

  it("serves one daemon of a host name: a second is refused and says who has it", async () => {
    await newDatabase();
    const first = await start({ dataDir: join(folder, "one"), config: config("lab"), env });
    const executionId = await startRun(first);
    const second = launchDaemon({ dataDir: join(folder, "two"), config: config("lab"), env });
    expect(await second.ended).toBe(2);
    expect(JSON.parse(second.said().trim())).toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining('"lab"'),
      hint: expect.stringContaining("server.name"),
    });
    expect(await first.call("get_execution_status", { execution_id: executionId })).toMatchObject({
      result: { status: "running" },
    });
    await start({ dataDir: join(folder, "three"), config: config("lab-2"), env });
  });

  it("takes its host lock back before it serves again, also when only the lock's connection broke", async () => {
    await newDatabase();
    const daemon = await start({ dataDir: join(folder, "back"), config: config("lab"), env });
    const before = await lockHolder(env.DATABASE_URL);
    await asAdmin(env.DATABASE_URL, `select pg_terminate_backend(${before})`);
    await expect.poll(() => lockHolder(env.DATABASE_URL), within).not.toBe(before);
    await expect.poll(() => daemon.call("list_testcases"), within).toMatchObject({ success: true });
    expect(await lockHolder(env.DATABASE_URL)).toBeDefined();
    const second = launchDaemon({ dataDir: join(folder, "back-2"), config: config("lab"), env });
    expect(await second.ended).toBe(2);
  });

  it("whose lock another daemon took meanwhile ends this one, with a clear message", async () => {
    await newDatabase();
    const daemon = await start({ dataDir: join(folder, "robbed"), config: config("lab"), env });
    const held = await lockKey(env.DATABASE_URL);
    const before = await lockHolder(env.DATABASE_URL);
    const thief = new pg.Client({ connectionString: env.DATABASE_URL, application_name: "labwright thief" });
    await thief.connect();
    // Waits in line, so it has the lock the moment the daemon's connection ends.
    const stolen = thief.query("select pg_advisory_lock($1::bigint)", [held]);
    await expect.poll(() => waiters(env.DATABASE_URL), within).toBe(1);
    await asAdmin(env.DATABASE_URL, `select pg_terminate_backend(${before})`);
    await stolen;
    expect(await daemon.ended).toBe(2);
    expect(daemon.said()).toContain("labwright thief");
    await thief.end();
  });
});

const locks = `from pg_locks where locktype = 'advisory' and objsubid = 1
  and database = (select oid from pg_database where datname = current_database())`;

async function asAdmin(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const lockHolder = async (url: string) => (await asAdmin(url, `select pid ${locks} and granted`))[0]?.pid;
const lockKey = async (url: string) =>
  (await asAdmin(url, `select ((classid::bigint << 32) | objid::bigint)::text as key ${locks}`))[0]?.key;
const waiters = async (url: string) => (await asAdmin(url, `select pid ${locks} and not granted`)).length;

/** The events over HTTP, as text that grows. */
async function openFeed(daemon: DaemonProcess): Promise<{ text(): string; close(): void }> {
  const stop = new AbortController();
  const response = await fetch(daemonUrl(daemon.file(), "/server/events"), {
    headers: { ...daemonHeaders(daemon.file(), "feed/1"), accept: "text/event-stream" },
    signal: stop.signal,
  });
  let text = "";
  void (async () => {
    try {
      for await (const part of response.body ?? []) text += Buffer.from(part).toString();
    } catch {
      // Closed by the test.
    }
  })();
  // Its first words say that it listens.
  await expect.poll(() => text, within).toContain(": waiting");
  return { text: () => text, close: () => stop.abort() };
}
