import { randomUUID } from "node:crypto";
import {
  type ActionSet,
  type Edge,
  type EdgeDraft,
  edgeSchema,
  type Node,
  type NodeInput,
  nodeSchema,
  type Tree,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { type AppModel, belowNode, depthOf, edgeLabel, getEdge, getNode, getTree } from "./model.ts";
import type { Change, Edit } from "./models.ts";
import { edgeProblems, nodeProblems, sharingEdges, treeProblems } from "./problems.ts";

/** A field that is left out stays as it is. */
export type NodePatch = { [Key in keyof NodeInput]?: NodeInput[Key] | undefined };
export type EdgePatch = {
  [Key in Exclude<keyof EdgeDraft, "source" | "target">]?: EdgeDraft[Key] | undefined;
};
export type Removed = { nodes: number; edges: number; trees: number };
export type Subtree = Tree & { parent: string; depth: number };
/** An edge's id, and its ends by label. */
export type EdgeName = { id: string; edge: string };

export function planNewNode(model: AppModel, tree: string | undefined, input: NodeInput): Edit<Node> {
  const node: Node = { id: randomUUID(), tree_id: getTree(model, tree).id, ...input };
  refuse(nodeProblems(model, node), `The node "${node.label}" cannot be added`);
  return { changes: [{ kind: "addNode", node }], result: node };
}

/** Throws PROTECTED unless the patch takes the protection away. */
export function planNodeChange(model: AppModel, idOrLabel: string, patch: NodePatch): Edit<Node> {
  const known = getNode(model, idOrLabel);
  if (patch.protected !== false) refuseProtected(known);
  const { id, tree_id, screenshot, subtree_id, ...input } = known;
  const own = { id, tree_id, ...(screenshot && { screenshot }), ...(subtree_id && { subtree_id }) };
  const node: Node = { ...own, ...nodeSchema.parse({ ...input, ...givenIn(patch) }) };
  refuse(nodeProblems(model, node), `The node "${known.label}" cannot be changed`);
  return { changes: [{ kind: "changeNode", node }], result: node };
}

const givenIn = (patch: object) =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));

export function planScreenshot(model: AppModel, idOrLabel: string, screenshot: string): Edit<Node> {
  const node: Node = { ...getNode(model, idOrLabel), screenshot };
  return { changes: [{ kind: "changeNode", node }], result: node };
}

/** Takes the subtrees below the node and all their edges with it. Throws PROTECTED, CONFIRMATION_REQUIRED. */
export function planNodeRemoval(model: AppModel, idOrLabel: string, confirm: boolean): Edit<Removed> {
  const node = getNode(model, idOrLabel);
  const { trees, nodes, edges } = belowNode(model, node.id);
  for (const one of nodes) refuseProtected(one);
  const removed = { nodes: nodes.length, edges: edges.length, trees: trees.length };
  if (!confirm)
    throw confirmation(`node "${node.label}"`, removed, { nodes: nodes.map(({ label }) => label) });
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const gone: Change = { kind: "remove", trees: ids(trees), nodes: ids(nodes), edges: ids(edges) };
  return { changes: [gone], result: removed };
}

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
  const changes: Change[] = [
    { kind: "addTree", tree },
    { kind: "changeNode", node },
  ];
  return { changes, result: { ...tree, parent: parent.label, depth: depthOf(model, parent.tree_id) + 1 } };
}

function freeName(model: AppModel, label: string): string {
  const taken = new Set([...model.trees.values()].map(({ name }) => name));
  let name = label;
  for (let n = 2; taken.has(name); n++) name = `${label} ${n}`;
  return name;
}

/** Names the action sets that have no id `forward`, `forward_2`, `reverse` and so on. */
export function namedSets(drafts: EdgeDraft["action_sets"]): ActionSet[] {
  const taken = new Set(drafts.flatMap(({ id }) => id ?? []));
  return drafts.map((draft) => {
    if (draft.id !== undefined) return { ...draft, id: draft.id };
    let id: string = draft.direction;
    for (let n = 2; taken.has(id); n++) id = `${draft.direction}_${n}`;
    taken.add(id);
    return { ...draft, id };
  });
}

const nameOf = (model: AppModel, edge: Edge): EdgeName => ({ id: edge.id, edge: edgeLabel(model, edge) });

export function planNewEdge(model: AppModel, draft: EdgeDraft): Edit<EdgeName> {
  const { source, target } = endsOf(model, draft);
  const edge = withSharedActions(model, {
    ...{ id: randomUUID(), tree_id: treeOf(model, source, target) },
    ...{ ...draft, source: source.id, target: target.id, action_sets: namedSets(draft.action_sets) },
  });
  refuse(edgeProblems(model, edge), `The edge ${edgeLabel(model, edge)} cannot be added`);
  return { changes: [{ kind: "addEdge", edge }], result: nameOf(model, edge) };
}

/** A change to an action set that conditional edges share changes it in all of them. */
export function planEdgeChange(model: AppModel, idOrLabel: string, patch: EdgePatch): Edit<EdgeName> {
  const known = getEdge(model, idOrLabel);
  const { action_sets: drafts, ...given } = patch;
  const { id, tree_id, ...input } = known;
  const action_sets = drafts === undefined ? known.action_sets : namedSets(drafts);
  const edge: Edge = { id, tree_id, ...edgeSchema.parse({ ...input, ...givenIn(given), action_sets }) };
  const sharing = known.conditional ? sharingEdges(model, edge).map((other) => sharedFrom(edge, other)) : [];
  const edges = new Map([...model.edges, ...sharing.map((other) => [other.id, other] as const)]);
  refuse(edgeProblems({ ...model, edges }, edge), `The edge ${edgeLabel(model, known)} cannot be changed`);
  const changes = [edge, ...sharing].map((changed): Change => ({ kind: "changeEdge", edge: changed }));
  return { changes, result: nameOf(model, edge) };
}

export function planEdgeRemoval(
  model: AppModel,
  idOrLabel: string,
  confirm: boolean,
): Edit<{ edges: number }> {
  const edge = getEdge(model, idOrLabel);
  const label = edgeLabel(model, edge);
  if (!confirm) throw confirmation(`edge ${label}`, { nodes: 0, edges: 1, trees: 0 }, { edges: [label] });
  return { changes: [{ kind: "remove", trees: [], nodes: [], edges: [edge.id] }], result: { edges: 1 } };
}

/** Both ends by id or label. If neither is a node, one error names both. */
function endsOf(model: AppModel, draft: EdgeDraft): { source: Node; target: Node } {
  const find = (name: string): Node | ToolError => {
    try {
      return getNode(model, name);
    } catch (error) {
      if (error instanceof ToolError) return error;
      throw error;
    }
  };
  const [source, target] = [find(draft.source), find(draft.target)];
  if (source instanceof ToolError && target instanceof ToolError) {
    const message = `${source.message} ${target.message}`;
    const details = { ...source.details, target: target.details };
    throw new ToolError(source.code, message, `${source.hint} ${target.hint}`, details);
  }
  if (source instanceof ToolError) throw source;
  if (target instanceof ToolError) throw target;
  return { source, target };
}

/** An edge between a node and its subtree belongs to the subtree, so that it goes and is exported with it. */
const treeOf = (model: AppModel, source: Node, target: Node): string =>
  depthOf(model, target.tree_id) > depthOf(model, source.tree_id) ? target.tree_id : source.tree_id;

/** A conditional edge may name a shared action set without repeating its actions. */
export function withSharedActions(model: AppModel, edge: Edge): Edge {
  const shared = sharingEdges(model, edge).flatMap(({ action_sets }) => action_sets);
  const action_sets = edge.action_sets.map((set) => {
    const known = set.actions.length === 0 ? shared.find(({ id }) => id === set.id) : undefined;
    return known ?? set;
  });
  return { ...edge, action_sets };
}

function sharedFrom(edge: Edge, other: Edge): Edge {
  const action_sets = other.action_sets.map((set) => edge.action_sets.find(({ id }) => id === set.id) ?? set);
  return { ...other, action_sets };
}

/** Throws INVALID_INPUT that names every problem. */
function refuse(problems: readonly string[], what: string): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, 20);
  const more = problems.length > 20 ? `; and ${problems.length - 20} more` : "";
  throw new ToolError(
    "INVALID_INPUT",
    `${what}: ${shown.join("; ")}${more}.`,
    "Correct all of this and call again; preview_userinterface shows the trees as they are.",
    { problems: shown },
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

export function confirmation(what: string, removed: Removed, details: Record<string, unknown>): ToolError {
  const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const { nodes, edges, trees } = removed;
  return new ToolError(
    "CONFIRMATION_REQUIRED",
    `Deleting ${what} takes ${counted(nodes, "node")}, ${counted(edges, "edge")}, ${counted(trees, "tree")} and their history with it.`,
    "Call again with confirm: true to delete it.",
    { removes: removed, ...details },
  );
}
