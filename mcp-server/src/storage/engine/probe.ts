import { existsSync } from "node:fs";
import pg from "pg";
import { z } from "zod";

import { engineFiles, startEngine } from "./engine.ts";
import { isDataDirLocked, lockDataDir } from "./lock.ts";
import { isCluster } from "./template.ts";

export { oldestServer } from "./migrate.ts";

const rowsSchema = z.array(z.object({ server_version: z.string() })).length(1);
const answerMs = 5_000;

/** The version that the PostgreSQL server behind `url` gives itself. Rejects when none answers within 5 s; changes nothing. */
export async function serverVersion(url: string): Promise<string> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  try {
    await client.connect();
    const [row] = rowsSchema.parse((await client.query("show server_version")).rows);
    return row?.server_version ?? "";
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Opens the embedded database of a data directory and closes it again, unless it is not made yet or open elsewhere.
 * Rejects when it does not open.
 */
export async function embeddedDatabase(dataDir: string): Promise<"none" | "open" | "opens"> {
  const { folder, workerFile } = engineFiles(dataDir);
  if (!existsSync(folder)) return "none";
  if (await isDataDirLocked(dataDir)) return "open";
  if (!isCluster(folder)) throw new Error("it holds no database");
  const lock = await lockDataDir(dataDir);
  try {
    const engine = await startEngine({ folder, workerFile, openTimeoutMs: 30_000 });
    await engine.close();
    return "opens";
  } finally {
    await lock.release();
  }
}
