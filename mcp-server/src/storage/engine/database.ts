import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type * as schema from "../schema/index.ts";

/** The one handle for queries. Inside `transaction`, only the handle that it passes is used (PGlite has one session). */
export type Database = NodePgDatabase<typeof schema>;
