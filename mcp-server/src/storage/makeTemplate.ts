import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { PGlite } from "@electric-sql/pglite";

/**
 * Writes an empty initialised cluster as a gzipped tar (about 4 MB, 3 s); the build keeps it in `dist/`. WAL segments of
 * 1 MB instead of 16 MB make it small. Its PGlite must be the one that opens it.
 */
export async function makeTemplate(file: string): Promise<void> {
  const db = await PGlite.create({ initDbStartParams: ["--wal-segsize=1"] });
  await db.exec("CHECKPOINT");
  const dump = await db.dumpDataDir("gzip");
  await db.close();
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, Buffer.from(await dump.arrayBuffer()));
  await rename(fresh, file);
}
