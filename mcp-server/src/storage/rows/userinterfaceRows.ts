import { and, asc, count, eq, or, sql } from "drizzle-orm";
import type { Database } from "../engine/database.ts";
import { edges, nodes, trees, userinterfaces } from "../schema/index.ts";
import { isPresent, sourceRows } from "./sourceRows.ts";

export type UserInterfaceRow = typeof userinterfaces.$inferSelect;
export type UserInterfaceCounts = UserInterfaceRow & { nodes: number; edges: number; trees: number };

/** The models of apps, apart from their trees. */
export function userinterfaceRows(db: Database) {
  return {
    ...sourceRows(db, userinterfaces),
    ...namedRows(db),
    async insert(row: UserInterfaceRow): Promise<void> {
      await db.insert(userinterfaces).values(row);
    },
    async update(row: UserInterfaceRow): Promise<void> {
      await db.update(userinterfaces).set(row).where(eq(userinterfaces.id, row.id));
    },
    /**
     * Marks the model as changed, so that every process that holds a copy loads it again. Gives the mark: `at`, or the
     * millisecond after the mark before, whichever is later, so that no two changes have the same.
     */
    async touch(id: string, at: string): Promise<string> {
      const later = sql`greatest(${at}::timestamptz, ${userinterfaces.updated_at} + interval '1 millisecond')`;
      const [row] = await db
        .update(userinterfaces)
        .set({ updated_at: later })
        .where(eq(userinterfaces.id, id))
        .returning({ at: userinterfaces.updated_at });
      return row?.at ?? at;
    },
    /** By name, with what each holds. */
    async list(): Promise<UserInterfaceCounts[]> {
      const rows = await db
        .select()
        .from(userinterfaces)
        .where(isPresent(userinterfaces))
        .orderBy(asc(userinterfaces.name));
      const perTree = { id: trees.userinterface_id, n: count() };
      const treeCounts = await db.select(perTree).from(trees).groupBy(trees.userinterface_id);
      const nodeCounts = await db
        .select(perTree)
        .from(nodes)
        .innerJoin(trees, eq(nodes.tree_id, trees.id))
        .groupBy(trees.userinterface_id);
      const edgeCounts = await db
        .select(perTree)
        .from(edges)
        .innerJoin(trees, eq(edges.tree_id, trees.id))
        .groupBy(trees.userinterface_id);
      const of = (counts: { id: string; n: number }[], id: string) => counts.find((c) => c.id === id)?.n ?? 0;
      return rows.map((row) => ({
        ...row,
        trees: of(treeCounts, row.id),
        nodes: of(nodeCounts, row.id),
        edges: of(edgeCounts, row.id),
      }));
    },
    /** Its trees, nodes and edges go with it. */
    async remove(id: string): Promise<void> {
      await db.delete(userinterfaces).where(eq(userinterfaces.id, id));
    },
  };
}

function namedRows(db: Database) {
  return {
    /** The one of that id, else those of that name, one of each project at most. */
    async named(idOrName: string): Promise<UserInterfaceRow[]> {
      const isNamed = and(eq(userinterfaces.name, idOrName), isPresent(userinterfaces));
      return db
        .select()
        .from(userinterfaces)
        .where(or(eq(userinterfaces.id, idOrName), isNamed));
    },
    /** Archived or not. */
    async findIn(project: string, name: string): Promise<UserInterfaceRow | undefined> {
      const isMeant = and(eq(userinterfaces.project, project), eq(userinterfaces.name, name));
      const [row] = await db.select().from(userinterfaces).where(isMeant);
      return row;
    },
    /** Those of a project, archived ones left out. */
    async ofProject(project: string): Promise<UserInterfaceRow[]> {
      return db
        .select()
        .from(userinterfaces)
        .where(and(isPresent(userinterfaces), eq(userinterfaces.project, project)));
    },
    async names(): Promise<string[]> {
      const rows = await db
        .select({ name: userinterfaces.name })
        .from(userinterfaces)
        .where(isPresent(userinterfaces));
      return rows.map(({ name }) => name);
    },
  };
}
