import pg from "pg";
import { z } from "zod";

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
