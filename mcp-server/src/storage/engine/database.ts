import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { z } from "zod";
import type * as schema from "../schema/index.ts";

/** The one handle for queries. Inside `transaction`, only the handle that it passes is used (PGlite has one session). */
export type Database = NodePgDatabase<typeof schema>;

const sizeSchema = z.tuple([z.object({ bytes: z.coerce.number() })]);

/** The bytes that the database takes on its disk. */
export async function databaseBytes(db: Database): Promise<number> {
  const { rows } = await db.execute(sql`select pg_database_size(current_database()) as bytes`);
  return sizeSchema.parse(rows)[0].bytes;
}
