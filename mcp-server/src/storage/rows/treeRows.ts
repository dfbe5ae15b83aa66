import { eq, getTableColumns, inArray } from "drizzle-orm";
import type { Edge, Node, Tree } from "../../domain/index.ts";
import type { Database } from "../engine/database.ts";
import { everyColumn, withoutNulls } from "../schema/columns.ts";
import { edges, nodes, trees } from "../schema/index.ts";

/** Rows per statement: twelve columns times this stays below the protocol's 65,535 parameters. */
const batchSize = 1_000;

/** Trees, nodes and edges. A tree takes its nodes with it, a node its edges; a subtree is removed by its own id. */
export function treeRows(db: Database) {
  return {
    async insertTrees(rows: readonly Tree[]): Promise<void> {
      for (const batch of batches(rows)) await db.insert(trees).values([...batch]);
    },
    async insertNodes(rows: readonly Node[]): Promise<void> {
      for (const batch of batches(rows)) await db.insert(nodes).values([...batch]);
    },
    async insertEdges(rows: readonly Edge[]): Promise<void> {
      for (const batch of batches(rows)) await db.insert(edges).values(batch.map(edgeValues));
    },
    async updateNode(node: Node): Promise<void> {
      await db.update(nodes).set(everyColumn(nodes, node)).where(eq(nodes.id, node.id));
    },
    async updateEdge(edge: Edge): Promise<void> {
      await db.update(edges).set(edgeValues(edge)).where(eq(edges.id, edge.id));
    },
    async removeTrees(ids: readonly string[]): Promise<void> {
      for (const batch of batches(ids)) await db.delete(trees).where(inArray(trees.id, [...batch]));
    },
    async removeNodes(ids: readonly string[]): Promise<void> {
      for (const batch of batches(ids)) await db.delete(nodes).where(inArray(nodes.id, [...batch]));
    },
    async removeEdges(ids: readonly string[]): Promise<void> {
      for (const batch of batches(ids)) await db.delete(edges).where(inArray(edges.id, [...batch]));
    },
    async listTrees(userinterfaceId: string): Promise<Tree[]> {
      const rows = await db.select().from(trees).where(eq(trees.userinterface_id, userinterfaceId));
      return rows.map(withoutNulls);
    },
    async listNodes(userinterfaceId: string): Promise<Node[]> {
      const rows = await db
        .select({ node: nodes })
        .from(nodes)
        .innerJoin(trees, eq(nodes.tree_id, trees.id))
        .where(eq(trees.userinterface_id, userinterfaceId));
      return rows.map(({ node }) => withoutNulls(node));
    },
    async listEdges(userinterfaceId: string): Promise<Edge[]> {
      return db
        .select(getTableColumns(edges))
        .from(edges)
        .innerJoin(trees, eq(edges.tree_id, trees.id))
        .where(eq(trees.userinterface_id, userinterfaceId));
    },
  };
}

function* batches<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += batchSize) yield rows.slice(at, at + batchSize);
}

const edgeValues = (edge: Edge) => ({
  ...edge,
  conditional: edge.conditional ?? false,
  sibling_shortcuts: edge.sibling_shortcuts ?? false,
});
