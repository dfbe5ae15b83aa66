import { and, asc, desc, eq, inArray, like, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { artifacts } from "./schema.ts";

/** The index entry of a file that a host stores; `created_at` is when it was last stored. */
export type ArtifactRow = {
  sha256: string;
  host_name: string;
  mime_type: string;
  bytes: number;
  created_at: string;
};
export type ArtifactRows = ReturnType<typeof artifactRows>;

export function artifactRows(db: Database) {
  return {
    /** Storing the same bytes again makes them young again; their first type stands. Returns what is indexed. */
    async put(row: ArtifactRow): Promise<ArtifactRow> {
      const values = {
        sha256: row.sha256,
        hostName: row.host_name,
        mimeType: row.mime_type,
        bytes: row.bytes,
        createdAt: row.created_at,
      };
      const [stored] = await db
        .insert(artifacts)
        .values(values)
        .onConflictDoUpdate({
          target: [artifacts.sha256, artifacts.hostName],
          set: { createdAt: row.created_at },
        })
        .returning();
      return stored ? toRow(stored) : row;
    },

    /** That of `hostName` if it has the file, else of another that has. */
    async find(sha256: string, hostName: string): Promise<ArtifactRow | undefined> {
      const [row] = await db
        .select()
        .from(artifacts)
        .where(eq(artifacts.sha256, sha256))
        .orderBy(sql`${artifacts.hostName} <> ${hostName}`, asc(artifacts.hostName))
        .limit(1);
      return row && toRow(row);
    },

    /** Names of the host's files that begin so, newest first. The prefix is lower-case hexadecimal. */
    async startingWith(prefix: string, hostName: string, limit: number): Promise<string[]> {
      const rows = await db
        .select({ sha256: artifacts.sha256 })
        .from(artifacts)
        .where(and(eq(artifacts.hostName, hostName), like(artifacts.sha256, `${prefix}%`)))
        .orderBy(desc(artifacts.createdAt), asc(artifacts.sha256))
        .limit(limit);
      return rows.map(({ sha256 }) => sha256);
    },

    async totalBytes(hostName: string): Promise<number> {
      const [row] = await db
        .select({ total: sql<number>`coalesce(sum(${artifacts.bytes}), 0)::bigint` })
        .from(artifacts)
        .where(eq(artifacts.hostName, hostName));
      return row?.total ?? 0;
    },

    async oldest(hostName: string, limit: number): Promise<ArtifactRow[]> {
      const rows = await db
        .select()
        .from(artifacts)
        .where(eq(artifacts.hostName, hostName))
        .orderBy(asc(artifacts.createdAt), asc(artifacts.sha256))
        .limit(limit);
      return rows.map(toRow);
    },

    async remove(hostName: string, sha256: readonly string[]): Promise<void> {
      if (sha256.length === 0) return;
      await db
        .delete(artifacts)
        .where(and(eq(artifacts.hostName, hostName), inArray(artifacts.sha256, [...sha256])));
    },
  };
}

function toRow(row: typeof artifacts.$inferSelect): ArtifactRow {
  return {
    sha256: row.sha256,
    host_name: row.hostName,
    mime_type: row.mimeType,
    bytes: row.bytes,
    created_at: row.createdAt,
  };
}
