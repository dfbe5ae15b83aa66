import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sql } from "drizzle-orm";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { migrationsFolder } from "#mcp-server/storage/engine/migrate.ts";
import { openStorage } from "#mcp-server/storage/index.ts";
import { type Postgres, startPostgres } from "../fixtures/postgres.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const journalSchema = z.object({ entries: z.array(z.object({ idx: z.int(), tag: z.string() })).nonempty() });

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
});

it("has a migration for everything in the schema (else: npm run migrations)", async () => {
  const copy = await mkdtemp(join(tmpdir(), "labwright-migrations-"));
  await cp(migrationsFolder(), copy, { recursive: true });
  const before = await readdir(copy, { recursive: true });
  const generator = ["node_modules/drizzle-kit/bin.cjs", "generate", "--dialect", "postgresql"];
  const paths = ["--schema", "mcp-server/src/storage/schema/index.ts", "--out", relative(root, copy)];
  const { stdout } = await run(process.execPath, [...generator, ...paths], { cwd: root });
  expect(stdout).toContain("nothing to migrate");
  expect(await readdir(copy, { recursive: true })).toEqual(before);
  await rm(copy, { recursive: true, force: true });
});

it("lets processes that start at once migrate one database, each statement once", async () => {
  const databaseUrl = await server.newDatabase();
  const opened = await Promise.all(Array.from({ length: 6 }, () => openStorage({ databaseUrl })));
  const rows = await opened[0]?.pool.query("select count(*) as n from drizzle.__drizzle_migrations");
  const journal = journalSchema.parse(
    JSON.parse(await readFile(join(migrationsFolder(), "meta", "_journal.json"), "utf8")),
  );
  expect(rows?.rows).toEqual([{ n: journal.entries.length }]);
  for (const storage of opened) await storage.close();
});

it("refuses a database that a newer build has migrated", async () => {
  const databaseUrl = await server.newDatabase();
  const storage = await openStorage({ databaseUrl });
  await storage.pool.query("insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 9e15)");
  await storage.close();
  await expect(openStorage({ databaseUrl })).rejects.toMatchObject({
    code: "STORAGE_FAILED",
    message: expect.stringContaining("newer"),
    hint: expect.stringContaining("update"),
  });
});

it("says what to check when the server is not there, and keeps the password to itself", async () => {
  const url = new URL(await server.newDatabase());
  url.port = "1";
  url.password = "hunter2hunter2";
  const error = await openStorage({ databaseUrl: url.href }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "STORAGE_FAILED", hint: expect.stringContaining("DATABASE_URL") });
  expect(`${error}${JSON.stringify(error)}`).not.toContain("hunter2");
});

it("fails a transaction whose connection was cut while it was idle, and goes on", async () => {
  const storage = await openStorage({ databaseUrl: await server.newDatabase() });
  const cut = storage.db.transaction(async (tx) => {
    const { rows } = await tx.execute(sql`select pg_backend_pid() as pid`);
    await storage.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
    await tx.execute(sql`select 1`);
  });
  await expect(cut).rejects.toThrow();
  expect((await storage.db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
  await storage.close();
});

it("leaves no connection behind", async () => {
  const databaseUrl = await server.newDatabase();
  const storage = await openStorage({ databaseUrl });
  await storage.listen("news", () => {});
  await storage.close();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const others = await client.query(
    "select count(*) as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await client.end();
  expect(others.rows).toEqual([{ n: 0 }]);
});

it("listens again after its connection was cut, and says that something may have been missed", async () => {
  const databaseUrl = await server.newDatabase();
  const storage = await openStorage({ databaseUrl });
  const heard: string[] = [];
  let woken = () => {};
  const next = () =>
    new Promise<void>((resolve) => {
      woken = resolve;
    });
  await storage.listen("news", (payload) => {
    heard.push(payload);
    woken();
  });
  const again = next();
  const cut = "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen news'";
  await storage.pool.query(cut);
  await again;
  const told = next();
  await storage.pool.query("select pg_notify('news', 'after')");
  await told;
  await storage.close();
  expect(heard).toEqual(["", "after"]);
});
