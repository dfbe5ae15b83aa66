import { eq, inArray } from "drizzle-orm";
import type { Edge, Node, Tree } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { edges, nodes, trees } from "./schema.ts";

/** Rows per statement: twelve columns times this stays below the protocol's 65,535 parameters. */
const batchSize = 1_000;

/** Trees, nodes and edges. A tree takes its nodes with it, a node its edges; a subtree is removed by its own id. */
export function treeRows(db: Database) {
  return {
    async insertTrees(rows: readonly Tree[]): Promise<void> {
      for (const batch of batches(rows)) {
        await db.insert(trees).values(
          batch.map(({ id, userinterface_id, parent_node_id, name }) => ({
            id,
            userinterfaceId: userinterface_id,
            parentNodeId: parent_node_id ?? null,
            name,
          })),
        );
      }
    },
    async insertNodes(rows: readonly Node[]): Promise<void> {
      for (const batch of batches(rows)) await db.insert(nodes).values(batch.map(nodeValues));
    },
    async insertEdges(rows: readonly Edge[]): Promise<void> {
      for (const batch of batches(rows)) await db.insert(edges).values(batch.map(edgeValues));
    },
    async updateNode(node: Node): Promise<void> {
      await db.update(nodes).set(nodeValues(node)).where(eq(nodes.id, node.id));
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
      const rows = await db.select().from(trees).where(eq(trees.userinterfaceId, userinterfaceId));
      return rows.map((row) => ({
        id: row.id,
        userinterface_id: row.userinterfaceId,
        ...(row.parentNodeId !== null && { parent_node_id: row.parentNodeId }),
        name: row.name,
      }));
    },
    async listNodes(userinterfaceId: string): Promise<Node[]> {
      const rows = await db
        .select({ node: nodes })
        .from(nodes)
        .innerJoin(trees, eq(nodes.treeId, trees.id))
        .where(eq(trees.userinterfaceId, userinterfaceId));
      return rows.map(({ node }) => nodeFrom(node));
    },
    async listEdges(userinterfaceId: string): Promise<Edge[]> {
      const rows = await db
        .select({ edge: edges })
        .from(edges)
        .innerJoin(trees, eq(edges.treeId, trees.id))
        .where(eq(trees.userinterfaceId, userinterfaceId));
      return rows.map(({ edge }) => edgeFrom(edge));
    },
  };
}

function* batches<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += batchSize) yield rows.slice(at, at + batchSize);
}

function nodeValues(node: Node): typeof nodes.$inferInsert {
  return {
    id: node.id,
    treeId: node.tree_id,
    label: node.label,
    type: node.type,
    position: node.position,
    description: node.description ?? null,
    verifications: node.verifications,
    passCondition: node.pass_condition,
    protected: node.protected,
    screenshot: node.screenshot ?? null,
    subtreeId: node.subtree_id ?? null,
  };
}

function nodeFrom(row: typeof nodes.$inferSelect): Node {
  return {
    id: row.id,
    tree_id: row.treeId,
    label: row.label,
    type: row.type,
    position: row.position,
    ...(row.description !== null && { description: row.description }),
    verifications: row.verifications,
    pass_condition: row.passCondition,
    protected: row.protected,
    ...(row.screenshot !== null && { screenshot: row.screenshot }),
    ...(row.subtreeId !== null && { subtree_id: row.subtreeId }),
  };
}

function edgeValues(edge: Edge): typeof edges.$inferInsert {
  return {
    id: edge.id,
    treeId: edge.tree_id,
    source: edge.source,
    target: edge.target,
    actionSets: edge.action_sets,
    priority: edge.priority,
    conditional: edge.conditional ?? false,
    siblingShortcuts: edge.sibling_shortcuts ?? false,
    finalWaitMs: edge.final_wait_ms,
  };
}

function edgeFrom(row: typeof edges.$inferSelect): Edge {
  return {
    id: row.id,
    tree_id: row.treeId,
    source: row.source,
    target: row.target,
    action_sets: row.actionSets,
    priority: row.priority,
    conditional: row.conditional,
    sibling_shortcuts: row.siblingShortcuts,
    final_wait_ms: row.finalWaitMs,
  };
}
