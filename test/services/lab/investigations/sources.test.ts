import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClickhouseSource } from "#mcp-server/services/lab/investigations/sources/clickhouse.ts";
import { createPostgresSource } from "#mcp-server/services/lab/investigations/sources/postgres.ts";
import type { QuerySource } from "#mcp-server/services/lab/investigations/sources/source.ts";
import { createSqliteSource } from "#mcp-server/services/lab/investigations/sources/sqlite.ts";
import { allowedFetch } from "#mcp-server/services/policy/allowedFetch.ts";
import { createUrlPolicy } from "#mcp-server/services/policy/urlPolicy.ts";
import { freePort, serve } from "../../../fixtures/loopback.ts";
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

  it("ends a query that needs much memory, and answers the next", async () => {
    const memory = "select length(hex(zeroblob(100000000)))";
    await expect(source.query(sql(memory), limits(30_000))).rejects.toMatchObject({
      code: "INVALID_RESPONSE",
      message: "The query to parts needed too much memory.",
    });
    const text = "select hex(zeroblob(4000000)) as text";
    await expect(source.query(sql(text), limits(30_000))).rejects.toMatchObject({ code: "INVALID_RESPONSE" });
    expect(await source.query(sql("select count(*) as total from parts"), limits())).toEqual([{ total: 2 }]);
  });

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

describe("ClickHouse by HTTP", () => {
  type Reply = { status?: number; headers?: Record<string, string>; body: string };
  async function asked(reply: Reply | "never", ...values: unknown[]) {
    const urls: URL[] = [];
    const ends: string[] = [];
    const server = await serve((request, response) => {
      urls.push(new URL(request.url ?? "/", "http://clickhouse"));
      if (reply === "never") response.on("close", () => ends.push("closed"));
      else response.writeHead(reply.status ?? 200, reply.headers).end(reply.body);
    });
    const policy = createUrlPolicy({ allow: [], deny: [] }, { port: () => undefined });
    const access = () => ({ endpoint: `${server.url}/?database=logs`, values: ["reader", "of-clickhouse"] });
    const source = createClickhouseSource("logs", access, (url, init) => allowedFetch(policy, url, init));
    const parts = ["select 1 where x in (", ...values.slice(1).map(() => ", "), ")"];
    const result = await source.query({ parts, values }, limits(300)).catch((error: unknown) => error);
    if (reply === "never") await expect.poll(() => ends).toEqual(["closed"]);
    await server.close();
    return { result, params: urls[0]?.searchParams };
  }

  it("gets typed parameters, may only read, and has limits", async () => {
    const values = ["a\tb'\\", 5, 1.5, true, null, ["x'y", "z"], "2026-01-02T03:04:05.678Z"];
    const { result, params } = await asked({ body: '{"data":[{"n":1}]}' }, ...values);
    expect(result).toEqual([{ n: 1 }]);
    expect(params?.get("query")).toBe(
      "select 1 where x in ({p0:String}, {p1:Int64}, {p2:Float64}, {p3:Bool}, {p4:Nullable(String)}, {p5:Array(String)}, {p6:DateTime64(3, 'UTC')}) FORMAT JSON",
    );
    const sent = values.map((_, at) => params?.get(`param_p${at}`));
    const times = "2026-01-02 03:04:05.678";
    expect(sent).toEqual(["a\\tb'\\\\", "5", "1.5", "true", "\\N", "['x\\\\'y','z']", times]);
    expect(params?.get("readonly")).toBe("2");
    expect(params?.get("max_execution_time")).toBe("1");
    expect(params?.get("database")).toBe("logs");
  });

  it.each([
    ["REQUEST_TIMEOUT", 500, "159", "Code: 159. DB::Exception: Timeout exceeded"],
    ["INVALID_RESPONSE", 500, "396", "Code: 396. DB::Exception: Limit for result exceeded"],
    ["INVALID_INPUT", 404, "60", "Code: 60. DB::Exception: Table logs.x does not exist"],
    ["CONNECTION_REFUSED", 403, "516", "Code: 516. DB::Exception: reader: Authentication failed"],
    ["CONNECTION_REFUSED", 502, "", "<html>Bad gateway"],
    ["INVALID_INPUT", 200, "", '{"data":[{"n":1},\nCode: 241. DB::Exception: Memory limit exceeded'],
    ["INVALID_RESPONSE", 200, "", "<html>hello"],
  ])("says %s for status %s and code %s", async (code, status, exception, body) => {
    const headers = exception === "" ? {} : { "x-clickhouse-exception-code": exception };
    expect((await asked({ status, headers, body }, 1)).result).toMatchObject({ code });
  });

  it("cuts the request that the server does not end in time, which ends the query", async () => {
    expect((await asked("never", 1)).result).toMatchObject({ code: "REQUEST_TIMEOUT" });
  });
});
