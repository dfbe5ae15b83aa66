import { randomUUID } from "node:crypto";
import { type Node, type NodeInput, nodeSchema, type Tree } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Change } from "./changes.ts";
import { type AppModel, belowNode, depthOf, getNode, getTree } from "./model.ts";
import type { Edit } from "./models.ts";
import { nodeProblems, treeProblems } from "./problems.ts";

/** What of a node a caller may change; what is left out stays. */
export type NodePatch = { [Key in keyof NodeInput]?: NodeInput[Key] | undefined };

export function planNewNode(model: AppModel, tree: string | undefined, input: NodeInput): Edit<Node> {
  const node: Node = { id: randomUUID(), tree_id: getTree(model, tree).id, ...input };
  refuse(nodeProblems(model, node), `The node "${node.label}" cannot be added`);
  return { changes: [{ kind: "addNode", node }], result: node };
}

/** Throws PROTECTED unless the patch takes the protection away. */
export function planNodeChange(model: AppModel, idOrLabel: string, patch: NodePatch): Edit<Node> {
  const known = getNode(model, idOrLabel);
  if (patch.protected !== false) refuseProtected(known);
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
  const { id, tree_id, screenshot, subtree_id, ...input } = known;
  const own = { id, tree_id, ...(screenshot && { screenshot }), ...(subtree_id && { subtree_id }) };
  const node: Node = { ...own, ...nodeSchema.parse({ ...input, ...given }) };
  refuse(nodeProblems(model, node), `The node "${known.label}" cannot be changed`);
  return { changes: [{ kind: "changeNode", node }], result: node };
}

export function planScreenshot(model: AppModel, idOrLabel: string, screenshot: string): Edit<Node> {
  const node: Node = { ...getNode(model, idOrLabel), screenshot };
  return { changes: [{ kind: "changeNode", node }], result: node };
}

export type Removed = { nodes: number; edges: number; trees: number };

/** Takes the subtrees below the node and all their edges with it. Throws PROTECTED, CONFIRMATION_REQUIRED. */
export function planNodeRemoval(model: AppModel, idOrLabel: string, confirm: boolean): Edit<Removed> {
  const node = getNode(model, idOrLabel);
  const { trees, nodes, edges } = belowNode(model, node.id);
  for (const one of nodes) refuseProtected(one);
  const removed = { nodes: nodes.length, edges: edges.length, trees: trees.length };
  if (!confirm)
    throw confirmation(`node "${node.label}"`, removed, { nodes: nodes.map(({ label }) => label) });
  const gone: Change = {
    kind: "remove",
    trees: trees.map(({ id }) => id),
    nodes: nodes.map(({ id }) => id),
    edges: edges.map(({ id }) => id),
  };
  return { changes: [gone], result: removed };
}

export type Subtree = Tree & { parent: string; depth: number };

/** A node has at most one subtree. */
export function planSubtree(model: AppModel, idOrLabel: string, name: string | undefined): Edit<Subtree> {
  const parent = getNode(model, idOrLabel);
  refuseProtected(parent);
  const known = model.trees.get(parent.subtree_id ?? "");
  if (known) {
    throw new ToolError(
      "ALREADY_EXISTS",
      `"${parent.label}" already has the subtree "${known.name}" (${known.id}).`,
      "Add nodes to it with create_node and its name as tree.",
    );
  }
  const tree: Tree = {
    id: randomUUID(),
    userinterface_id: model.ui.id,
    parent_node_id: parent.id,
    name: name ?? freeName(model, parent.label),
  };
  refuse(treeProblems(model, tree), `The subtree of "${parent.label}" cannot be added`);
  const node: Node = { ...parent, subtree_id: tree.id };
  const depth = depthOf(model, parent.tree_id) + 1;
  return {
    changes: [
      { kind: "addTree", tree },
      { kind: "changeNode", node },
    ],
    result: { ...tree, parent: parent.label, depth },
  };
}

function freeName(model: AppModel, label: string): string {
  const taken = new Set([...model.trees.values()].map(({ name }) => name));
  let name = label;
  for (let n = 2; taken.has(name); n++) name = `${label} ${n}`;
  return name;
}

/** Throws INVALID_INPUT that names every problem at once; ALREADY_EXISTS stays a problem among the others. */
export function refuse(problems: readonly string[], what: string): void {
  if (problems.length === 0) return;
  throw new ToolError(
    "INVALID_INPUT",
    `${what}: ${problems.slice(0, 20).join("; ")}${problems.length > 20 ? `; and ${problems.length - 20} more` : ""}.`,
    "Correct all of this and call again; preview_userinterface shows the trees as they are.",
    { problems: problems.slice(0, 20) },
  );
}

function refuseProtected(node: Node): void {
  if (!node.protected) return;
  throw new ToolError(
    "PROTECTED",
    `"${node.label}" is protected against changes.`,
    "To change it all the same, call update_node with protected: false first.",
    { node: node.id },
  );
}

/** What would go, for a caller that did not confirm. */
export function confirmation(what: string, removed: Removed, details: Record<string, unknown>): ToolError {
  const parts = [
    `${removed.nodes} node${removed.nodes === 1 ? "" : "s"}`,
    `${removed.edges} edge${removed.edges === 1 ? "" : "s"}`,
    `${removed.trees} tree${removed.trees === 1 ? "" : "s"}`,
  ];
  return new ToolError(
    "CONFIRMATION_REQUIRED",
    `Deleting ${what} takes ${parts.join(", ")} and their history with it.`,
    "Call again with confirm: true to delete it.",
    { removes: removed, ...details },
  );
}
