import type { Edge, Node, Tree } from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { navigationRows } from "../../../storage/rows/navigationRows.ts";
import { positionRows } from "../../../storage/rows/positionRows.ts";
import { treeRows } from "../../../storage/rows/treeRows.ts";
import type { AppModel } from "./model.ts";

/** One edit of an app's trees: what the rows, the copy in memory and every graph made from it do alike. */
export type Change =
  | { kind: "addTree"; tree: Tree }
  | { kind: "addNode" | "changeNode"; node: Node }
  | { kind: "addEdge" | "changeEdge"; edge: Edge }
  | { kind: "remove"; trees: readonly string[]; nodes: readonly string[]; edges: readonly string[] };

/** Writes a change inside the caller's transaction. */
export async function writeChange(tx: Database, change: Change): Promise<void> {
  const rows = treeRows(tx);
  switch (change.kind) {
    case "addTree":
      return rows.insertTrees([change.tree]);
    case "addNode":
      return rows.insertNodes([change.node]);
    case "changeNode":
      return rows.updateNode(change.node);
    case "addEdge":
      return rows.insertEdges([change.edge]);
    case "changeEdge":
      return rows.updateEdge(change.edge);
    case "remove":
      await rows.removeEdges(change.edges);
      await rows.removeNodes(change.nodes);
      await rows.removeTrees(change.trees);
      await positionRows(tx).leaveNodes(change.nodes);
      return navigationRows(tx).forget([...change.nodes, ...change.edges]);
  }
}

/** Makes the same change to the copy in memory. */
export function applyChange(model: AppModel, change: Change): void {
  switch (change.kind) {
    case "addTree":
      model.trees.set(change.tree.id, change.tree);
      return;
    case "addNode":
    case "changeNode":
      model.nodes.set(change.node.id, change.node);
      return;
    case "addEdge":
    case "changeEdge":
      model.edges.set(change.edge.id, change.edge);
      return;
    case "remove":
      for (const id of change.edges) model.edges.delete(id);
      for (const id of change.nodes) model.nodes.delete(id);
      for (const id of change.trees) model.trees.delete(id);
  }
}
