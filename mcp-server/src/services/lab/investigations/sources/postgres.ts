import pg from "pg";
import { ToolError } from "../../../../errors.ts";
import {
  Bounded,
  type Limits,
  type QuerySource,
  type Row,
  refused,
  type Statement,
  textOf,
  tooSlow,
  unreachable,
  wholeNumber,
} from "./source.ts";

/** Connections stay open between queries for `idleMs`. */
const mostConnections = 20;
const idleMs = 30_000;
const connectMs = 10_000;
/** What the database gets to end a query by itself, before the connection is cut. */
const graceMs = 1_000;

/** Object ids in pg_type.dat of PostgreSQL. */
const readers = new Map<number, (text: string) => unknown>([
  [20, wholeNumber],
  [1700, decimal],
  [1082, String],
  [1114, String],
  [1184, (text) => (/infinity/.test(text) ? text : new Date(text).toISOString())],
  [17, String],
]);

/** A decimal as a number where that keeps its digits, else as text. */
function decimal(text: string): number | string {
  const plain = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return String(Number(text)) === plain ? Number(text) : text;
}

/**
 * PostgreSQL, or what speaks its protocol, such as Redshift. Each query is one transaction that can only read, ends by
 * `statement_timeout` in the database, and is cancelled there when its caller goes.
 */
export function createPostgresSource(name: string, config: () => pg.ClientConfig): QuerySource {
  let pool: pg.Pool | undefined;
  return {
    async query(statement, limits) {
      const { signal, timeoutMs } = limits;
      signal.throwIfAborted();
      const reading: Reading = { name, statement, text: textOf(statement, (at) => `$${at + 1}`), timeoutMs };
      pool ??= openPool(config());
      const late = AbortSignal.timeout(timeoutMs + graceMs);
      const done = new AbortController();
      const ended = new Promise<never>((_, reject) => {
        for (const end of [signal, late])
          end.addEventListener("abort", () => reject(end.reason), { signal: done.signal });
      });
      const connecting = pool.connect();
      const working = connecting.then((client) => read(client, reading));
      try {
        const rows = await Promise.race([working, ended]);
        (await connecting).release();
        return rows;
      } catch (error) {
        working.catch(() => undefined);
        connecting.then((client) => client.release(true)).catch(() => undefined);
        // A database goes on with a query whose connection was cut.
        if (!(error instanceof pg.DatabaseError)) void cancel(reading, config()).catch(() => undefined);
        signal.throwIfAborted();
        throw late.aborted ? tooSlow(name, timeoutMs) : failure(name, error, limits);
      } finally {
        done.abort();
      }
    },
    async close() {
      await pool?.end();
    },
  };
}

function openPool(config: pg.ClientConfig): pg.Pool {
  const pool = new pg.Pool({
    ...{ connectionTimeoutMillis: connectMs, idleTimeoutMillis: idleMs, max: mostConnections },
    ...{ application_name: "labwright", allowExitOnIdle: true, ...config },
  });
  // A query of the connection fails with the same error.
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", () => undefined);
  return pool;
}

/** `pid`: the database's process for it, once it has begun. */
type Reading = {
  name: string;
  statement: Statement;
  text: string;
  timeoutMs: number;
  pid?: number | undefined;
};

async function read(client: pg.PoolClient, reading: Reading): Promise<Row[]> {
  const begun = await client.query<{ pid: number }>(
    `begin read only; set local statement_timeout = ${Math.ceil(reading.timeoutMs)}; select pg_backend_pid() as pid`,
  );
  // Of several statements there are several results, which the types of `pg` do not know.
  reading.pid = [begun].flat().at(-1)?.rows[0]?.pid;
  const bounded = new Bounded(reading.name);
  await new Promise<void>((resolve, reject) => {
    const query = new pg.Query(queryOf(reading.text, reading.statement));
    query.on("row", (row: Row) => {
      try {
        bounded.add(row);
      } catch (error) {
        reject(error);
      }
    });
    query.on("end", () => resolve());
    query.on("error", reject);
    client.query(query);
  });
  await client.query("rollback");
  return bounded.rows;
}

/** The extended protocol takes one statement, also where there are no values; the types of `pg` do not know the choice. */
const queryOf = (text: string, { values }: Statement): pg.QueryConfig & { queryMode: "extended" } => ({
  ...{ text, values: [...values], types: { getTypeParser } },
  queryMode: "extended",
});

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  (format !== "binary" && readers.get(oid)) || pg.types.getTypeParser(oid, format);

async function cancel({ pid }: Reading, config: pg.ClientConfig): Promise<void> {
  if (pid === undefined) return;
  const client = new pg.Client({ connectionTimeoutMillis: graceMs, ...config });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select pg_cancel_backend($1)", [pid]);
  } finally {
    await client.end();
  }
}

/** SQLSTATE of a query that statement_timeout or a cancel ended; classes of connections that failed and of servers that stop. */
const cancelled = "57014";
const gone = /^(08|57P|53|28|3D)/;

function failure(name: string, error: unknown, { timeoutMs }: Limits): unknown {
  if (error instanceof ToolError) return error;
  if (!(error instanceof pg.DatabaseError)) return unreachable(name, reasonOf(error), error);
  if (error.code === cancelled) return tooSlow(name, timeoutMs);
  if (gone.test(error.code ?? "")) return unreachable(name, reasonOf(error), error);
  return refused(name, reasonOf(error), error);
}

function reasonOf(error: unknown): string {
  // Of a name with several addresses, Node's error has a message a try.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
