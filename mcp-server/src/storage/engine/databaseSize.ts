import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Database } from "./database.ts";

const sizeSchema = z.array(z.object({ bytes: z.coerce.number() })).length(1);

/** What the database takes on its disk, in bytes. */
export async function databaseBytes(db: Database): Promise<number> {
  const { rows } = await db.execute(sql`select pg_database_size(current_database()) as bytes`);
  const [row] = sizeSchema.parse(rows);
  return row?.bytes ?? 0;
}
