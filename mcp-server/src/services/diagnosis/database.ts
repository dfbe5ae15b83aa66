import { oldestServer, serverVersion } from "../../storage/probe.ts";
import type { Finding } from "./finding.ts";

/** The PostgreSQL server of the configuration: reachable, and new enough. */
export async function checkDatabase(url: string | undefined): Promise<Finding> {
  const what = "database";
  if (url === undefined) return { what, status: "ok", detail: "embedded, in the data directory" };
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
