import { createHash, randomUUID } from "node:crypto";
import pg from "pg";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { databaseGone } from "./failure.ts";

/** A killed predecessor's connection ends a moment after it. */
const predecessorMs = 5_000;
const retryMs = 500;
const connectMs = 10_000;
/** The server notices within half a minute that the machine of a holder is gone; by default it takes hours. */
const keepalives =
  "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3";
const lockTaken = "55P03";

export type HostLockWatcher = {
  /** The database or our connection to it went; nothing may be done until `back`. */
  away(error: ToolError): void;
  back(): void;
};

/**
 * The right to be the only daemon of a host name on a PostgreSQL server: an advisory lock on a connection of its own. It
 * goes with that connection, and is taken again as soon as the server answers.
 */
export class HostLock {
  /** Aborts with a ToolError when another daemon took the lock while our connection was gone. */
  readonly taken: AbortSignal;
  private readonly url: string;
  private readonly host: string;
  private readonly watcher: HostLockWatcher;
  private readonly taking = new AbortController();
  /** Sets a session of ours that the server still believes alive apart from another daemon's. */
  private readonly name = `labwright ${process.pid} ${randomUUID().slice(0, 8)}`;
  private client: pg.Client | undefined;
  private trying: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(options: { url: string; host: string; watcher: HostLockWatcher }) {
    this.taken = this.taking.signal;
    this.url = options.url;
    this.host = options.host;
    this.watcher = options.watcher;
  }

  /** Resolves while the lock is held, else once it is regained. Rejects with STORAGE_FAILED when it cannot be had now. */
  async held(): Promise<void> {
    if (this.client !== undefined) return;
    this.taken.throwIfAborted();
    this.trying ??= this.take().finally(() => {
      this.trying = undefined;
    });
    return this.trying;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    await this.trying?.catch(() => {});
    await this.client?.end().catch(() => {});
  }

  private async take(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: this.name,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
    });
    client.on("error", (error) => this.lose(client, error));
    client.on("end", () => this.lose(client, new Error("the connection ended")));
    try {
      await client.connect();
      await lock(client, { key: keyOf(this.host), host: this.host, name: this.name });
    } catch (error) {
      void client.end().catch(() => {});
      throw error instanceof ToolError ? error : databaseGone(error);
    }
    this.client = client;
  }

  private lose(client: pg.Client, error: Error): void {
    if (this.client !== client || this.isClosed) return;
    this.client = undefined;
    this.watcher.away(databaseGone(error));
    this.regainLater();
  }

  private regainLater(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.regain(), retryMs);
  }

  private async regain(): Promise<void> {
    try {
      await this.held();
      this.watcher.back();
    } catch (error) {
      if (this.isClosed) return;
      if (error instanceof HostTaken) this.taking.abort(error);
      else this.regainLater();
    }
  }
}

/** Another daemon has the name. */
class HostTaken extends ToolError {}

/** 62 bits, which is a positive bigint. */
const keyOf = (host: string) =>
  (createHash("sha256").update(`labwright host ${host}`).digest().readBigUInt64BE() >> 2n).toString();

const holders = `
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint`;

async function lock(
  client: pg.Client,
  { key, host, name }: { key: string; host: string; name: string },
): Promise<void> {
  await client.query(keepalives);
  await client.query(`select pg_terminate_backend(a.pid) ${holders} and a.application_name = $2`, [
    key,
    name,
  ]);
  await client.query(`set lock_timeout = ${predecessorMs}`);
  try {
    await client.query("select pg_advisory_lock($1::bigint)", [key]);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== lockTaken) throw error;
    throw await takenBy(client, key, host);
  }
}

const holderRows = z.array(
  z.object({ application_name: z.string(), client_addr: z.string().nullable(), since: z.coerce.string() }),
);

async function takenBy(client: pg.Client, key: string, host: string): Promise<HostTaken> {
  const found = await client.query(
    `select a.application_name, host(a.client_addr) as client_addr, a.backend_start::text as since ${holders}`,
    [key],
  );
  const [holder] = holderRows.parse(found.rows);
  const who = holder
    ? `${holder.application_name} at ${holder.client_addr ?? "this machine"}, since ${holder.since}`
    : "another daemon";
  return new HostTaken(
    "STORAGE_FAILED",
    `The host name "${host}" is served on this database already, by ${who}.`,
    "End that daemon (labwright stop on its machine), or set server.name in labwright.yaml to a name of this one's own.",
    { host },
  );
}
