import { nearest } from "@labwright/controllers";
import type { Edge, Node, Params, Source, Tree, UserInterface } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";

/** One app with all of its trees, as stored at `updated_at`. Never changed: an edit makes another one. */
export type AppModel = {
  ui: UserInterface;
  source: Source;
  updated_at: string;
  trees: Map<string, Tree>;
  nodes: Map<string, Node>;
  edges: Map<string, Edge>;
};

/** The names for `{{name}}` in an app's actions and checks: its variables, and `app`. */
export const variablesOf = (ui: UserInterface): Params => ({ ...ui.variables, app: ui.app });

/** `Source → Target`, which also names an edge if it is the only one. */
export function edgeLabel(model: AppModel, edge: Pick<Edge, "source" | "target">): string {
  return `${labelOf(model, edge.source)} → ${labelOf(model, edge.target)}`;
}

export function labelOf(model: AppModel, nodeId: string): string {
  return model.nodes.get(nodeId)?.label ?? nodeId;
}

export function treeName(model: AppModel, treeId: string): string {
  return model.trees.get(treeId)?.name ?? treeId;
}

/** Where runs start: the entry of the root tree. */
export function findEntry(model: AppModel): Node | undefined {
  return [...model.nodes.values()].find(
    (node) => node.type === "entry" && node.tree_id === model.ui.root_tree_id,
  );
}

/** By id, by label, or by `Tree/Label`. Throws NODE_NOT_FOUND with the nearest labels, AMBIGUOUS with the candidates. */
export function getNode(model: AppModel, idOrLabel: string): Node {
  const byId = model.nodes.get(idOrLabel);
  if (byId) return byId;
  const found = nodesNamed(model, idOrLabel);
  const [only] = found;
  if (found.length > 1) throw ambiguous(model, idOrLabel, found);
  if (only) return only;
  const labels = nearest(idOrLabel, labelsOf(model));
  throw new ToolError(
    "NODE_NOT_FOUND",
    `${model.ui.name} has no node "${idOrLabel}".`,
    labels.length > 0
      ? `Did you mean ${labels.join(", ")}? list_navigation_nodes shows all.`
      : "list_navigation_nodes shows all.",
    { nearest: labels },
  );
}

export const labelsOf = (model: AppModel): string[] => [...model.nodes.values()].map(({ label }) => label);

/** An exact label wins over one that differs in case, and both over `Tree/Label`. */
function nodesNamed(model: AppModel, label: string): Node[] {
  const nodes = [...model.nodes.values()];
  const exact = nodes.filter((node) => node.label === label);
  if (exact.length > 0) return exact;
  const folded = label.trim().toLowerCase();
  const alike = nodes.filter((node) => node.label.toLowerCase() === folded);
  if (alike.length > 0) return alike;
  return nodes.filter((node) => `${treeName(model, node.tree_id)}/${node.label}`.toLowerCase() === folded);
}

function ambiguous(model: AppModel, label: string, found: readonly Node[]): ToolError {
  const candidates = found
    .slice(0, 10)
    .map(({ id, label, tree_id }) => ({ id, label, tree: treeName(model, tree_id) }));
  return new ToolError(
    "AMBIGUOUS",
    `"${label}" is ${found.length} nodes of ${model.ui.name}: ${candidates.map((c) => `${c.tree}/${c.label} (${c.id})`).join(", ")}.`,
    "Give the id or Tree/Label.",
    { candidates },
  );
}

/** By id or by `Source → Target` (`->` does too). Throws EDGE_NOT_FOUND with the nearest, AMBIGUOUS with the candidates. */
export function getEdge(model: AppModel, idOrLabel: string): Edge {
  const byId = model.edges.get(idOrLabel);
  if (byId) return byId;
  const wanted = folded(idOrLabel);
  const found = [...model.edges.values()].filter((edge) => folded(edgeLabel(model, edge)) === wanted);
  const [only] = found;
  if (only && found.length === 1) return only;
  const labels = [...model.edges.values()].map((edge) => edgeLabel(model, edge));
  if (!only) {
    const near = nearest(idOrLabel, labels);
    throw new ToolError(
      "EDGE_NOT_FOUND",
      `${model.ui.name} has no edge "${idOrLabel}".`,
      `${near.length > 0 ? `Did you mean ${near.join(", ")}? ` : ""}Give an id or "Source → Target"; list_edges shows all.`,
      { nearest: near },
    );
  }
  throw new ToolError(
    "AMBIGUOUS",
    `"${idOrLabel}" is ${found.length} edges of ${model.ui.name}: ${found.map(({ id }) => id).join(", ")}.`,
    "Give the id.",
    { candidates: found.slice(0, 10).map(({ id, priority }) => ({ id, priority })) },
  );
}

const folded = (label: string) =>
  label
    .replace(/\s*(→|->)\s*/g, "→")
    .trim()
    .toLowerCase();

/** A tree by id or name; the root tree when none is named. Throws TREE_NOT_FOUND with the nearest. */
export function getTree(model: AppModel, idOrName: string | undefined): Tree {
  const wanted = idOrName ?? model.ui.root_tree_id;
  const trees = [...model.trees.values()];
  const found = model.trees.get(wanted) ?? trees.find(({ name }) => name === wanted);
  if (found) return found;
  const names = trees.map(({ name }) => name);
  throw new ToolError(
    "TREE_NOT_FOUND",
    `${model.ui.name} has no tree "${wanted}".`,
    `Its trees: ${names.slice(0, 20).join(", ")}. create_subtree makes one below a node.`,
    { nearest: nearest(wanted, names) },
  );
}

/** Trees above a tree; 0 for the root tree. */
export function depthOf(model: AppModel, treeId: string): number {
  let depth = 0;
  for (let tree = model.trees.get(treeId); tree?.parent_node_id !== undefined && depth < 100; depth++) {
    tree = model.trees.get(model.nodes.get(tree.parent_node_id)?.tree_id ?? "");
  }
  return depth;
}

/** What a removal of a node removes: the trees below it, all their nodes, and every edge at any of them. */
export function belowNode(model: AppModel, nodeId: string): { trees: Tree[]; nodes: Node[]; edges: Edge[] } {
  const nodes = new Set([nodeId]);
  const trees = new Set<Tree>();
  for (const parent of nodes) {
    const [tree] = [...model.trees.values()].filter(({ parent_node_id }) => parent_node_id === parent);
    if (!tree) continue;
    trees.add(tree);
    for (const { id, tree_id } of model.nodes.values()) if (tree_id === tree.id) nodes.add(id);
  }
  return {
    trees: [...trees],
    nodes: [...model.nodes.values()].filter(({ id }) => nodes.has(id)),
    edges: [...model.edges.values()].filter(({ source, target }) => nodes.has(source) || nodes.has(target)),
  };
}
