import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { migrationsFolder } from "./migrate.ts";

const block = 512;
/** A window of 1 MB, which reaches from a file to its copy. A larger one would stay in the memory of the daemon. */
const params = { [constants.BROTLI_PARAM_LGWIN]: 20, [constants.BROTLI_PARAM_QUALITY]: 9 };

/**
 * Writes a cluster without rows, of this build's schema, as a tar compressed by brotli (1.4 MB, 8 s); the build keeps it in
 * `dist/`. Migrating each copy instead would take more time than opening it. WAL segments of 1 MB instead of 16 MB make it
 * small. Its PGlite must be the one that opens it.
 */
export async function makeTemplate(file: string): Promise<void> {
  const db = await PGlite.create({ initDbStartParams: ["--wal-segsize=1"] });
  await migrate(drizzle(db), { migrationsFolder: migrationsFolder() });
  await db.exec("CHECKPOINT");
  const dump = await db.dumpDataDir("none");
  await db.close();
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  const tar = copiesTogether(Buffer.from(await dump.arrayBuffer()));
  await writeFile(fresh, brotliCompressSync(tar, { params }));
  await rename(fresh, file);
}

/** The same archive in the order of the files' own names: the three databases of a cluster have nearly the same files. */
function copiesTogether(tar: Buffer): Buffer {
  const entries: { name: string; bytes: Buffer }[] = [];
  for (let at = 0; tar[at]; ) {
    const size = Number.parseInt(tar.toString("latin1", at + 124, at + 136), 8) || 0;
    const end = at + block + Math.ceil(size / block) * block;
    const path = tar.toString("latin1", at, at + 100).replace(/\0.*$/s, "");
    entries.push({ name: basename(path), bytes: tar.subarray(at, end) });
    at = end;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return Buffer.concat([...entries.map(({ bytes }) => bytes), Buffer.alloc(2 * block)]);
}
