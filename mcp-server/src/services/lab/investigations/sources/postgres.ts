import { Socket } from "node:net";
import pg from "pg";
import { ToolError } from "../../../../errors.ts";
import {
  Bounded,
  type Limits,
  mostBytes,
  type QuerySource,
  type Row,
  refused,
  type Statement,
  textOf,
  tooMuch,
  tooSlow,
  unreachable,
  wholeNumber,
} from "./source.ts";

/** Connections that stay open between queries, for this long. */
const mostIdle = 4;
const idleMs = 30_000;
const connectMs = 10_000;
/** What the database gets to end a query by itself, before the connection is cut. */
const graceMs = 1_000;
/** A row travels with lengths and names of types around it. */
const mostOnWire = mostBytes * 4;

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

type Connection = {
  client: pg.Client;
  pid: number;
  received: { bytes: number };
  stopIdle(): void;
  wasIdle: boolean;
};

/**
 * PostgreSQL, or what speaks its protocol, such as Redshift. Each query is one transaction that can only read, ends by
 * `statement_timeout` in the database, and is cancelled there when its caller goes. `config` is asked again for each connection.
 */
export const createPostgresSource = (name: string, config: () => pg.ClientConfig): QuerySource =>
  new PostgresSource(name, config);

class PostgresSource implements QuerySource {
  private readonly idle: Connection[] = [];

  constructor(
    private readonly name: string,
    private readonly config: () => pg.ClientConfig,
  ) {}

  async query(statement: Statement, limits: Limits): Promise<Row[]> {
    const { name, config } = this;
    const text = textOf(statement, (at) => `$${at + 1}`);
    const connection = await this.open(limits);
    const watch = watchOver(connection, limits, config);
    try {
      const rows = await Promise.race([read(name, connection, { text, statement, limits }), watch.ended]);
      this.keep(connection);
      return rows;
    } catch (error) {
      // What gave too much goes on giving until it is cancelled.
      if (error instanceof ToolError) void cancel(connection, config).catch(() => undefined);
      drop(connection);
      limits.signal.throwIfAborted();
      const failed = failure(name, error, limits);
      // The server ended a connection that was open from before: the query goes out on another one.
      const isGone = failed instanceof ToolError && failed.code === "CONNECTION_REFUSED";
      if (isGone && connection.wasIdle) return this.query(statement, limits);
      throw failed;
    } finally {
      watch.stop();
    }
  }

  async close(): Promise<void> {
    for (const connection of this.idle.splice(0)) {
      connection.stopIdle();
      await connection.client.end().catch(() => undefined);
    }
  }

  private async open({ signal }: Limits): Promise<Connection> {
    const kept = this.idle.pop();
    if (kept) {
      kept.stopIdle();
      kept.received.bytes = 0;
      return { ...kept, wasIdle: true };
    }
    const received = { bytes: 0 };
    const stream = () =>
      new Socket().on("data", ({ length }) => {
        received.bytes += length;
      });
    const given = { connectionTimeoutMillis: connectMs, application_name: "labwright", ...this.config() };
    const client = new pg.Client({ ...given, stream });
    client.on("error", () => undefined);
    const end = () => void client.end().catch(() => undefined);
    signal.addEventListener("abort", end, { once: true });
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      const pid = rows[0]?.pid ?? 0;
      return { client, pid, received, stopIdle: () => undefined, wasIdle: false };
    } catch (error) {
      end();
      signal.throwIfAborted();
      throw unreachable(this.name, reasonOf(error), error);
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  private keep(connection: Connection): void {
    const { idle } = this;
    if (idle.length >= mostIdle) {
      drop(connection);
      return;
    }
    const gone = () => {
      const at = idle.indexOf(connection);
      if (at >= 0) idle.splice(at, 1);
      drop(connection);
    };
    const timer = setTimeout(gone, idleMs).unref();
    connection.client.once("end", gone);
    connection.stopIdle = () => {
      clearTimeout(timer);
      connection.client.removeListener("end", gone);
    };
    idle.push(connection);
  }
}

function drop({ client }: Connection): void {
  void client.end().catch(() => undefined);
}

type Reading = { text: string; statement: Statement; limits: Limits };

async function read(name: string, { client, received }: Connection, reading: Reading): Promise<Row[]> {
  const { text, statement, limits } = reading;
  await client.query(`begin read only; set local statement_timeout = ${Math.ceil(limits.timeoutMs)}`);
  const bounded = new Bounded(name);
  await new Promise<void>((resolve, reject) => {
    const query = new pg.Query(queryOf(text, statement));
    query.on("row", (row: Row) => {
      try {
        if (received.bytes > mostOnWire) throw tooMuch(name, `${mostOnWire} bytes`);
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

/** Cancels the query in the database when the caller goes, or the database does not end it in time. */
function watchOver(connection: Connection, { signal, timeoutMs }: Limits, config: () => pg.ClientConfig) {
  let reject: (reason: unknown) => void = () => undefined;
  const ended = new Promise<never>((_, no) => {
    reject = no;
  });
  ended.catch(() => undefined);
  const end = (reason: unknown) => {
    void cancel(connection, config).catch(() => undefined);
    reject(reason);
  };
  const onAbort = () => end(signal.reason);
  const timer = setTimeout(() => end(new Error(lateCode)), timeoutMs + graceMs);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    ended,
    stop() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

async function cancel({ pid }: Connection, config: () => pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ connectionTimeoutMillis: graceMs, ...config() });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select pg_cancel_backend($1)", [pid]);
  } finally {
    await client.end();
  }
}

const lateCode = "late";

/** SQLSTATE of a query that statement_timeout or a cancel ended; classes of connections that failed and of servers that stop. */
const cancelled = "57014";
const gone = /^(08|57P|53|28|3D)/;

function failure(name: string, error: unknown, { timeoutMs }: Limits): unknown {
  if (error instanceof ToolError) return error;
  if (error instanceof Error && error.message === lateCode) return tooSlow(name, timeoutMs);
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
