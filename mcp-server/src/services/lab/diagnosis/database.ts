import { join } from "node:path";
import type { DiagnosisFinding } from "@labwright/controllers";
import { databaseGone, storageFailure } from "../../../storage/engine/failure.ts";
import { embeddedDatabase, oldestServer, serverVersion } from "../../../storage/engine/probe.ts";

const what = "database";

/** The database of the configuration: whether it opens or, as a server, is reachable and new enough. */
export function checkDatabase(config: {
  data_dir: string;
  database_url?: string | undefined;
}): Promise<DiagnosisFinding> {
  const { data_dir, database_url } = config;
  return database_url === undefined ? checkEmbedded(data_dir) : checkServer(database_url);
}

export async function checkOpenDatabase(
  engine: string,
  ask: () => Promise<unknown>,
): Promise<DiagnosisFinding> {
  try {
    await ask();
    return {
      what,
      status: "ok",
      detail: engine === "pglite" ? "embedded, in the data directory" : "PostgreSQL",
    };
  } catch (error) {
    const known = storageFailure(error) ?? databaseGone(error);
    return { what, status: "missing", detail: known.message, fix: known.hint };
  }
}

async function checkEmbedded(dataDir: string): Promise<DiagnosisFinding> {
  try {
    const state = await embeddedDatabase(dataDir);
    return { what, status: "ok", detail: embeddedStates[state] };
  } catch (error) {
    return {
      what,
      status: "missing",
      detail: `${join(dataDir, "db")} does not open: ${error instanceof Error ? error.message : String(error)}`,
      fix: "Free space on its disk and see that this user may write it. If it is damaged, restore a backup, or move the folder db away to begin with an empty one",
    };
  }
}

const embeddedStates = {
  none: "embedded; the first start makes it",
  open: "embedded, in the data directory; open in the process that owns the directory",
  opens: "embedded, in the data directory",
} as const;

async function checkServer(url: string): Promise<DiagnosisFinding> {
  try {
    const version = await serverVersion(url);
    if (Number.parseInt(version, 10) >= oldestServer) {
      return { what, status: "ok", detail: `PostgreSQL ${version}` };
    }
    return {
      what,
      status: "missing",
      detail: `PostgreSQL ${version} is older than ${oldestServer}`,
      fix: "Upgrade it, or unset DATABASE_URL to use the embedded database",
    };
  } catch (error) {
    return {
      what,
      status: "missing",
      detail: `PostgreSQL cannot be reached: ${error instanceof Error ? error.message || error.name : String(error)}`,
      fix: "Start it and check DATABASE_URL, or unset it to use the embedded database",
    };
  }
}
