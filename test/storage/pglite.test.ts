import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { eventRows, openStorage, startEngine } from "#mcp-server/storage/index.ts";
import { audit } from "#mcp-server/storage/schema/index.ts";
import { bundled, type EngineFiles, engineFiles } from "../fixtures/engine.ts";

let files: EngineFiles;
let program: URL;
let dataDir: string;
const children: ReturnType<typeof spawn>[] = [];

beforeAll(async () => {
  files = await engineFiles();
  program = await bundled(new URL("../fixtures/storageProcess.ts", import.meta.url).pathname);
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "labwright-pglite-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

function start(order: "write" | "open") {
  const args = [program.pathname, order, dataDir, files.workerFile.href, files.templateFile];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const said: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
  return { child, said, closed: once(child, "close") };
}

const row = { principal: "p", client: "c", tool: "t", outcome: "ok", duration_ms: 1, trace_id: "t" };

it("loses no acknowledged row when the writing process is killed, twice over", async () => {
  const acknowledged: string[] = [];
  for (let round = 1; round <= 2; round++) {
    const { child, said, closed } = start("write");
    await vi.waitFor(() => expect(said.length).toBeGreaterThan(40), { timeout: 50_000 });
    child.kill("SIGKILL");
    await closed;
    acknowledged.push(...said.slice(1));
  }
  const storage = await openStorage({ dataDir, ...files });
  const stored = await eventRows(storage.db).read({ after: 0, limit: 100_000 });
  await storage.close();
  const types = new Set(stored.map((event) => event.type));
  expect(acknowledged.filter((type) => !types.has(type))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(60);
}, 120_000);

it("starts whole after a first start was killed at any moment", async () => {
  const place = join(dataDir, "db");
  const half = () => readdir(dataDir).then((names) => names.some((name) => name.startsWith("db")));
  const { child, closed } = start("open");
  await vi.waitFor(async () => expect(await half()).toBe(true), { timeout: 10_000, interval: 1 });
  child.kill("SIGKILL");
  await closed;
  expect(existsSync(place) && !existsSync(join(place, "PG_VERSION"))).toBe(false);
  const storage = await openStorage({ dataDir, ...files });
  expect(await storage.db.$count(audit)).toBe(0);
  await storage.close();
  expect(await readdir(dataDir)).toEqual(["db"]);
});

it("opens again what it closed", async () => {
  const first = await openStorage({ dataDir, ...files });
  await first.db.insert(audit).values({ ...row, at: new Date().toISOString() });
  await first.close();
  const second = await openStorage({ dataDir, ...files });
  expect(await second.db.$count(audit)).toBe(1);
  await second.close();
});

it("refuses the outer handle inside a transaction instead of waiting for ever", async () => {
  const storage = await openStorage({ dataDir, ...files, transactionWaitMs: 100 });
  const mistake = storage.db.transaction(async (tx) => {
    await tx.insert(audit).values({ ...row, at: new Date().toISOString() });
    await storage.db.insert(audit).values({ ...row, at: new Date().toISOString() });
  });
  await expect(mistake).rejects.toMatchObject({
    cause: { code: "55P03", message: expect.stringContaining("use only the handle") },
  });
  expect(await storage.db.$count(audit)).toBe(0);
  await storage.close();
});

it("goes on after more refused transactions than it has connections", async () => {
  const storage = await openStorage({ dataDir, ...files, transactionWaitMs: 50 });
  const append = () => storage.db.transaction((tx) => tx.insert(audit).values({ ...row, at: "2030-01-01" }));
  await storage.db.transaction(async () => {
    const refused = await Promise.allSettled(Array.from({ length: 3 }, append));
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    for (let i = 0; i < 3; i++) await expect(append()).rejects.toThrow();
  });
  for (let i = 0; i < 5; i++) await append();
  expect(await storage.db.$count(audit)).toBe(5);
  await storage.close();
});

it("starts without a template, by initdb, and is whole", async () => {
  const templateFile = join(dataDir, "none.tgz");
  const storage = await openStorage({ dataDir, workerFile: files.workerFile, templateFile });
  expect(await storage.db.$count(audit)).toBe(0);
  await storage.close();
  expect(await readdir(dataDir)).toEqual(["db"]);
});

it("says what to check when the folder holds a damaged database, and leaves it alone", async () => {
  await mkdir(join(dataDir, "db"));
  await writeFile(join(dataDir, "db", "PG_VERSION"), "18\n");
  await expect(openStorage({ dataDir, ...files })).rejects.toMatchObject({
    code: "STORAGE_FAILED",
    hint: expect.stringContaining("data directory"),
  });
  expect(existsSync(join(dataDir, "db", "PG_VERSION"))).toBe(true);
});

it("fails calls, and does not hang, after its thread has ended", async () => {
  const engine = await startEngine({ folder: join(dataDir, "db"), ...files });
  const storage = await openStorage({ engine: Promise.resolve(engine) });
  await engine.close();
  await expect(storage.db.$count(audit)).rejects.toThrow();
  expect(storage.lost.aborted).toBe(false);
  await storage.close();
});

it("is lost, and says so, when its thread ends by itself", async () => {
  const workerFile = join(dataDir, "ends.mjs");
  const thread = `import { parentPort } from "node:worker_threads";
    parentPort.once("message", () => process.exit(7));
    parentPort.postMessage("open");`;
  await writeFile(workerFile, thread);
  const engine = await startEngine({ folder: join(dataDir, "db"), workerFile: pathToFileURL(workerFile) });
  await once(engine.connect(), "close");
  await expect
    .poll(() => engine.lost.reason)
    .toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("exit code 7"),
    });
});

it("lets every connection prepare statements by the same names, one after the other and again", async () => {
  const storage = await openStorage({ dataDir, ...files });
  const clients = await Promise.all([storage.pool.connect(), storage.pool.connect()]);
  const answers: unknown[] = [];
  for (const round of [1, 2])
    for (const client of clients) {
      const { rows } = await client.query({
        name: "add",
        text: "select $1::int + 1 as sum",
        values: [round],
      });
      answers.push(rows[0]);
    }
  expect(answers).toEqual([{ sum: 2 }, { sum: 2 }, { sum: 3 }, { sum: 3 }]);
  for (const client of clients) client.release();
  await storage.close();
});
