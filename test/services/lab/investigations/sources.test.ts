import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresSource } from "#mcp-server/services/lab/investigations/sources/postgres.ts";
import type { QuerySource } from "#mcp-server/services/lab/investigations/sources/source.ts";
import { createSqliteSource } from "#mcp-server/services/lab/investigations/sources/sqlite.ts";
import { freePort } from "../../../fixtures/loopback.ts";
import { startPgliteServer } from "../../../fixtures/pgliteServer.ts";
import { startPostgres } from "../../../fixtures/postgres.ts";
import { sharedDatabase } from "../../../fixtures/sharedPostgres.ts";

const never = new AbortController().signal;
const limits = (timeoutMs = 10_000, signal: AbortSignal = never) => ({ timeoutMs, signal });
const sql = (text: string, ...values: unknown[]) => ({ parts: text.split("?"), values });
const hostile = "'; drop table parts; --";

/** What every database promises. `slow` is a query that would take minutes. */
function promises(open: () => QuerySource, slow: string, many: string): void {
  it("gives rows as JSON has them, and finds a value that looks like SQL by its text only", async () => {
    const rows = await open().query(
      sql("select name, amount, price, note from parts where name = ?", hostile),
      limits(),
    );
    expect(rows).toEqual([{ name: hostile, amount: 9_007_199_254_740_991, price: 1.5, note: null }]);
    expect(await open().query(sql("select count(*) as total from parts"), limits())).toEqual([{ total: 2 }]);
  });

  it("refuses what is not a read, also where it begins like one", async () => {
    for (const text of ["delete from parts", "/* select */ update parts set amount = 1"])
      await expect(open().query(sql(text), limits())).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await open()
      .query(sql("select 1 as one; drop table parts"), limits())
      .catch(() => undefined);
    expect(await open().query(sql("select count(*) as total from parts"), limits())).toEqual([{ total: 2 }]);
  });

  it("says what the database has against a query", async () => {
    await expect(open().query(sql("select none from parts"), limits())).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("none"),
    });
  });

  it("ends what gives too many rows or bytes, and answers the next query", async () => {
    await expect(open().query(sql(many), limits())).rejects.toMatchObject({ code: "INVALID_RESPONSE" });
    expect(await open().query(sql("select 1 as one"), limits())).toEqual([{ one: 1 }]);
  });

  it("ends a query that never ends at its deadline and with its caller, and answers the next", async () => {
    await expect(open().query(sql(slow), limits(300))).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
    const control = new AbortController();
    const asked = open().query(sql(slow), limits(60_000, control.signal));
    setTimeout(() => control.abort(new Error("the caller went")), 200);
    await expect(asked).rejects.toThrow("the caller went");
    expect(await open().query(sql("select 1 as one"), limits())).toEqual([{ one: 1 }]);
  });
}

const table = "create table parts (name text, amount bigint, price numeric, note text)";
const insert = "insert into parts values ('bolt', 3, 0.25, 'x'), (?, 9007199254740991, 1.50, null)";

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(table);
  await client.query(insert.replace("?", "$1"), [hostile]);
  await client.end();
}

describe("PostgreSQL", () => {
  let url = "";
  let source: QuerySource;
  beforeAll(async () => {
    url = await sharedDatabase();
    await fill(url);
    source = createPostgresSource("warehouse", () => ({ connectionString: url }));
  });
  afterAll(() => source.close());
  promises(
    () => source,
    "select pg_sleep(600)",
    "select repeat('x', 100000) from generate_series(1, 1000000)",
  );

  it("has no query left over of those that were ended", async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await expect
      .poll(async () => {
        const { rows } = await client.query(
          "select query from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()",
        );
        return rows;
      })
      .toEqual([]);
    await client.end();
  });

  it("cannot be written by a function either", async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      "create function sneak() returns int language sql as $$ delete from parts returning 1 $$",
    );
    await client.end();
    await expect(source.query(sql("select sneak()"), limits())).rejects.toThrow("read-only transaction");
  });
});

describe("PGlite over the wire", () => {
  it("answers as PostgreSQL does", async () => {
    const server = await startPgliteServer();
    await fill(server.url);
    const source = createPostgresSource("warehouse", () => ({ connectionString: server.url }));
    const rows = await source.query(sql("select amount, price from parts where name = ?", hostile), limits());
    expect(rows).toEqual([{ amount: 9_007_199_254_740_991, price: 1.5 }]);
    await source.close();
    await server.stop();
  });
});

describe("a database that goes away", () => {
  it("is an error of the connection, before a query and within one, and is used again when it is back", async () => {
    const server = await startPostgres();
    const url = await server.newDatabase();
    const source = createPostgresSource("warehouse", () => ({ connectionString: url }));
    try {
      expect(await source.query(sql("select 1 as one"), limits())).toEqual([{ one: 1 }]);
      const asked = source.query(sql("select pg_sleep(600)"), limits(60_000));
      setTimeout(() => void server.crash(), 200);
      await expect(asked).rejects.toMatchObject({ code: "CONNECTION_REFUSED" });
      await expect(source.query(sql("select 1"), limits())).rejects.toMatchObject({
        code: "CONNECTION_REFUSED",
        message: expect.stringContaining("warehouse"),
      });
      await server.restart();
      expect(await source.query(sql("select 1 as one"), limits())).toEqual([{ one: 1 }]);
    } finally {
      await source.close();
      await server.stop();
    }
  });

  it("is one too where nothing ever listened", async () => {
    const port = await freePort();
    const source = createPostgresSource("warehouse", () => ({ host: "127.0.0.1", port }));
    await expect(source.query(sql("select 1"), limits())).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
    });
  });
});

describe("SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "labwright-sqlite-test-"));
  const file = join(folder, "parts.db");
  const { Database } = createRequire(import.meta.url)("node-sqlite3-wasm");
  let source: QuerySource;
  beforeAll(() => {
    const database = new Database(file);
    database.exec(table);
    database.run(insert, [hostile]);
    database.close();
    source = createSqliteSource("parts", file);
  });
  afterAll(async () => {
    await source.close();
    rmSync(folder, { recursive: true, force: true });
  });
  promises(
    () => source,
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
    "with recursive n(i) as (select 1 union all select i + 1 from n) select hex(zeroblob(10000)) from n",
  );

  it("leaves the folder of the file as it is, and sees what changed in it since", async () => {
    await source.query(sql("select 1"), limits());
    expect(readdirSync(folder)).toEqual(["parts.db"]);
    const database = new Database(file);
    database.run("insert into parts values ('nut', 1, 1, 'new')");
    database.close();
    expect(await source.query(sql("select note from parts where name = 'nut'"), limits())).toEqual([
      { note: "new" },
    ]);
  });

  it("reads what so far stands only in the write-ahead log", async () => {
    const live = join(folder, "live.db");
    const database = new Database(live);
    database.exec("pragma locking_mode = exclusive");
    database.exec("pragma journal_mode = wal");
    database.exec("create table seen (n integer)");
    database.exec("insert into seen values (7)");
    const logged = join(folder, "logged.db");
    for (const end of ["", "-wal"]) copyFileSync(live + end, logged + end);
    database.close();
    const other = createSqliteSource("logged", logged);
    expect(await other.query(sql("select n from seen"), limits())).toEqual([{ n: 7 }]);
    await other.close();
  });

  it("says that a file is not there, or is none of SQLite's", async () => {
    for (const path of [join(folder, "none.db"), new URL(import.meta.url).pathname]) {
      const other = createSqliteSource("other", path);
      await expect(other.query(sql("select 1"), limits())).rejects.toMatchObject({
        code: "CONNECTION_REFUSED",
      });
      await other.close();
    }
  });
});
