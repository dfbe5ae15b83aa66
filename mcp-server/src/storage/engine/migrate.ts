import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { packageFolder } from "./packageFolder.ts";

/** The oldest server that the SQL is tested on. */
export const oldestServer = 15;
/** Any fixed number: names the lock among this database's advisory locks ("labw" in ASCII). */
const migrationLock = 0x6c616277;

export const migrationsFolder = () => join(packageFolder(), "migrations");

const versionRows = z.array(z.object({ server_version_num: z.string() })).length(1);
const existsRows = z.array(z.object({ there: z.boolean() })).length(1);
const latestRows = z.array(z.object({ latest: z.coerce.number().nullable() })).length(1);

async function checkServer(client: PoolClient): Promise<void> {
  const [row] = versionRows.parse((await client.query("show server_version_num")).rows);
  const major = Math.floor(Number(row?.server_version_num) / 10_000);
  if (major >= oldestServer) return;
  throw new ToolError(
    "STORAGE_FAILED",
    `the database server is PostgreSQL ${major}`,
    `use PostgreSQL ${oldestServer} or newer, or leave DATABASE_URL out for the embedded database`,
  );
}

async function latestMigration(client: PoolClient): Promise<number> {
  const table = await client.query("select to_regclass('drizzle.__drizzle_migrations') is not null as there");
  const [found] = existsRows.parse(table.rows);
  if (found?.there !== true) return 0;
  const latest = await client.query("select max(created_at) as latest from drizzle.__drizzle_migrations");
  const [row] = latestRows.parse(latest.rows);
  return row?.latest ?? 0;
}

/**
 * Brings the database to this build's schema. Processes that start at once wait for each other; a database of a newer
 * build is refused, as this one would misread it.
 */
export async function migrateDatabase(pool: Pool): Promise<void> {
  const folder = migrationsFolder();
  const ours = readMigrationFiles({ migrationsFolder: folder }).at(-1)?.folderMillis ?? 0;
  const client = await pool.connect();
  try {
    await checkServer(client);
    if ((await latestMigration(client)) === ours) return;
    await client.query("set lock_timeout = '60s'");
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    try {
      if ((await latestMigration(client)) > ours) throw newer();
      await migrate(drizzle(client), { migrationsFolder: folder });
    } finally {
      await client.query("select pg_advisory_unlock($1)", [migrationLock]);
      await client.query("reset lock_timeout");
    }
  } finally {
    client.release();
  }
}

function newer(): ToolError {
  return new ToolError(
    "STORAGE_FAILED",
    "the database was made by a newer Labwright than this one",
    "update this Labwright, or give it another data directory or DATABASE_URL",
  );
}
