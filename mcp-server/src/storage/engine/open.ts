import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { ToolError } from "../../errors.ts";
import * as schema from "../schema/index.ts";
import type { Database } from "./database.ts";
import { type Engine, engineFiles, startEngine } from "./engine.ts";
import { databaseGone } from "./failure.ts";
import { HostLock, type HostLockWatcher } from "./hostLock.ts";
import { Notifications } from "./listen.ts";
import { migrateDatabase } from "./migrate.ts";

/** `count(*)` and bigint columns are numbers on both engines; ours stay far below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type StorageOptions = {
  /** The data directory, locked by the caller; the embedded database lies in its `db`. Needed without `databaseUrl`. */
  dataDir?: string | undefined;
  databaseUrl?: string | undefined;
  /** The host name that this process alone serves on `databaseUrl`. Undefined: nothing is locked. */
  host?: string | undefined;
  templateFile?: string | undefined;
  workerFile?: URL | undefined;
  /** An engine that `startEngine` is starting already, in place of `dataDir`. */
  engine?: Promise<Engine> | undefined;
  transactionWaitMs?: number | undefined;
};

/** Called when the database cannot be used for a while, and when it can again. */
export type StorageWatcher = HostLockWatcher;

export type Storage = {
  db: Database;
  engine: "pglite" | "postgresql";
  pool: pg.Pool;
  /**
   * Calls `listener` with the payload of each NOTIFY on `channel`, after the commit; with an empty one when some may have
   * been missed. Returns the function that ends it.
   */
  listen(channel: string, listener: (payload: string) => void): Promise<() => void>;
  /** Aborts with an error when this process may use the database no more, and so must end. */
  lost: AbortSignal;
  watch(watcher: StorageWatcher): void;
  close(): Promise<void>;
};

function failure(error: unknown, hint: string): ToolError {
  if (error instanceof ToolError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ToolError(
    "STORAGE_FAILED",
    `the database cannot be opened: ${message}`,
    hint,
    {},
    { cause: error },
  );
}

function engineOf(options: StorageOptions): Promise<Engine> {
  if (options.engine !== undefined) return options.engine;
  if (options.dataDir === undefined)
    throw new ToolError("STORAGE_FAILED", "no database is named", "give a data directory or a DATABASE_URL");
  const files = engineFiles(options.dataDir);
  return startEngine({
    folder: files.folder,
    templateFile: options.templateFile ?? files.templateFile,
    workerFile: options.workerFile ?? files.workerFile,
    transactionWaitMs: options.transactionWaitMs,
  });
}

/**
 * Replaces drizzle-orm 0.45's own, which never gives a connection back whose `begin` fails: refused while another
 * transaction is open, a few such would use up the pool.
 */
function withOwnTransactions(db: Database, pool: pg.Pool): Database {
  const handles = new WeakMap<pg.PoolClient, Database>();
  const handleOf = (client: pg.PoolClient) => {
    const handle = handles.get(client) ?? drizzle(client, { schema });
    handles.set(client, handle);
    return handle;
  };
  db.transaction = async (run, config) => {
    const client = await pool.connect().catch((error: unknown) => {
      throw error instanceof ToolError ? error : databaseGone(error);
    });
    try {
      return await handleOf(client).transaction(run, config);
    } finally {
      client.release();
    }
  };
  return db;
}

/** What is below the pool: a thread, or a server with the right to use it. */
type Ground = { engine: Storage["engine"]; lost: AbortSignal; close(): Promise<void> };

async function over(
  ground: Ground,
  config: pg.PoolConfig,
): Promise<{ storage: Omit<Storage, "watch">; breakConnections(error: Error): void }> {
  const pool = new pg.Pool({ connectionTimeoutMillis: 30_000, ...config });
  const clients = new Set<pg.PoolClient>();
  // A connection that breaks between two statements (a server that restarts) fails the next one, and the pool replaces
  // it; without a listener for its error, Node would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    clients.add(client);
    client.on("error", () => {});
  });
  pool.on("remove", (client) => clients.delete(client));
  const notifications = new Notifications(pool);
  const close = async () => {
    notifications.close();
    await ended(pool.end());
    await ground.close();
  };
  try {
    await migrateDatabase(pool);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    storage: {
      db: withOwnTransactions(drizzle(pool, { schema }), pool),
      engine: ground.engine,
      pool,
      listen: (channel, listener) => notifications.listen(channel, listener),
      lost: ground.lost,
      close,
    },
    breakConnections(error) {
      // An idle one leaves the pool by its error; one in use ends, and its statement fails.
      for (const client of [...clients]) client.emit("error", error);
      for (const client of [...clients]) if (endsAtOnce(client)) void client.end().catch(() => {});
    },
  };
}

/** The pool gives its clients the methods of pg.Client, of which its types leave `end` out. */
const endsAtOnce = (client: unknown): client is pg.Client => client instanceof pg.Client;

/** Waits for statements that are under way, but not for ever: a connection that was never given back must not hang a shutdown. */
async function ended(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 5_000);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/**
 * Opens the database and brings it to this build's schema: a PostgreSQL server by URL, else PGlite in a thread behind the
 * same wire protocol, so that both have one driver and one behaviour. Throws STORAGE_FAILED.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { databaseUrl, host } = options;
  if (databaseUrl !== undefined)
    return await openServer(databaseUrl, host).catch((error: unknown) => {
      throw failure(
        error,
        "check DATABASE_URL: that the server runs, the database exists, the user may log in",
      );
    });
  try {
    const engine = await engineOf(options);
    const ground = { engine: "pglite", lost: engine.lost, close: () => engine.close() } as const;
    const pool = { stream: () => engine.connect(), max: 4, ssl: false, idleTimeoutMillis: 0 };
    // Its thread is here or lost; it is never away.
    return { ...(await over(ground, pool)).storage, watch: () => {} };
  } catch (error) {
    throw failure(
      error,
      "Check free space and rights of the data directory (labwright doctor). If the files in its db are damaged, put a copy of db back, or move db away to begin with an empty database.",
    );
  }
}

async function openServer(url: string, host: string | undefined): Promise<Storage> {
  const config = { connectionString: url, max: 10, keepAlive: true, connectionTimeoutMillis: 10_000 };
  const watchers: StorageWatcher[] = [];
  const watch = (watcher: StorageWatcher) => void watchers.push(watcher);
  if (host === undefined) {
    const ground = {
      engine: "postgresql",
      lost: new AbortController().signal,
      close: async () => {},
    } as const;
    return { ...(await over(ground, config)).storage, watch };
  }
  const opened: { breakConnections?: (error: Error) => void } = {};
  const lock = new HostLock({
    url,
    host,
    watcher: {
      away(error) {
        // What goes on over connections that still live would go on without the lock.
        opened.breakConnections?.(error);
        for (const watcher of watchers) watcher.away(error);
      },
      back() {
        for (const watcher of watchers) watcher.back();
      },
    },
  });
  await lock.held();
  const verify: pg.PoolConfig["verify"] = (_client, done) => void lock.held().then(() => done(), done);
  const ground = { engine: "postgresql", lost: lock.taken, close: () => lock.close() } as const;
  const { storage, breakConnections } = await over(ground, { ...config, verify });
  Object.assign(opened, { breakConnections });
  return { ...storage, watch };
}
