import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { migrationsFolder } from "./migrate.ts";

/**
 * Writes a cluster without rows, of this build's schema, as a gzipped tar (about 4 MB, 5 s); the build keeps it in
 * `dist/`. Migrating each copy instead would take more time than opening it. WAL segments of 1 MB instead of 16 MB make it
 * small. Its PGlite must be the one that opens it.
 */
export async function makeTemplate(file: string): Promise<void> {
  const db = await PGlite.create({ initDbStartParams: ["--wal-segsize=1"] });
  await migrate(drizzle(db), { migrationsFolder: migrationsFolder() });
  await db.exec("CHECKPOINT");
  const dump = await db.dumpDataDir("gzip");
  await db.close();
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, Buffer.from(await dump.arrayBuffer()));
  await rename(fresh, file);
}
