import { and, asc, desc, eq, inArray, like, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { artifacts } from "../schema/index.ts";

/** The index entry of a file that a host stores; `created_at` is when it was last stored. */
export type ArtifactRow = typeof artifacts.$inferSelect;
export type ArtifactRows = ReturnType<typeof artifactRows>;

export function artifactRows(db: Database) {
  return {
    /** Storing the same bytes again makes them young again; their first type stands. Returns what is indexed. */
    async put(row: ArtifactRow): Promise<ArtifactRow> {
      const [stored] = await db
        .insert(artifacts)
        .values(row)
        .onConflictDoUpdate({
          target: [artifacts.sha256, artifacts.host_name],
          set: { created_at: row.created_at },
        })
        .returning();
      return stored ?? row;
    },

    /** That of `hostName` if it has the file, else of another that has. */
    async find(sha256: string, hostName: string): Promise<ArtifactRow | undefined> {
      const [row] = await db
        .select()
        .from(artifacts)
        .where(eq(artifacts.sha256, sha256))
        .orderBy(sql`${artifacts.host_name} <> ${hostName}`, asc(artifacts.host_name))
        .limit(1);
      return row;
    },

    /** Names of the host's files that begin so, newest first. The prefix is lower-case hexadecimal. */
    async startingWith(prefix: string, hostName: string, limit: number): Promise<string[]> {
      const rows = await db
        .select({ sha256: artifacts.sha256 })
        .from(artifacts)
        .where(and(eq(artifacts.host_name, hostName), like(artifacts.sha256, `${prefix}%`)))
        .orderBy(desc(artifacts.created_at), asc(artifacts.sha256))
        .limit(limit);
      return rows.map(({ sha256 }) => sha256);
    },

    async totalBytes(hostName: string): Promise<number> {
      const [row] = await db
        .select({ total: sql<number>`coalesce(sum(${artifacts.bytes}), 0)::bigint` })
        .from(artifacts)
        .where(eq(artifacts.host_name, hostName));
      return row?.total ?? 0;
    },

    async oldest(hostName: string, limit: number): Promise<ArtifactRow[]> {
      return db
        .select()
        .from(artifacts)
        .where(eq(artifacts.host_name, hostName))
        .orderBy(asc(artifacts.created_at), asc(artifacts.sha256))
        .limit(limit);
    },

    async remove(hostName: string, sha256: readonly string[]): Promise<void> {
      if (sha256.length === 0) return;
      await db
        .delete(artifacts)
        .where(and(eq(artifacts.host_name, hostName), inArray(artifacts.sha256, [...sha256])));
    },
  };
}
