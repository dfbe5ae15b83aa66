import { isDeepStrictEqual } from "node:util";
import type { ActionSet, Edge, Node, Tree } from "../../../domain/index.ts";
import { didYouMean } from "../../../domain/schemaProblems.ts";
import { type AppModel, depthOf, edgeLabel, labelsOf, treeName } from "./model.ts";

const maxDepth = 5;

/** One line each. `node` may replace one with its id. */
export function nodeProblems(model: AppModel, node: Node): string[] {
  const others = [...model.nodes.values()].filter(
    ({ id, tree_id }) => id !== node.id && tree_id === node.tree_id,
  );
  const tree = treeName(model, node.tree_id);
  const problems: string[] = [];
  if (others.some(({ label }) => label === node.label)) {
    problems.push(`tree "${tree}" already has a node "${node.label}": labels are unique within a tree`);
  }
  const entry = others.find(({ type }) => type === "entry");
  if (node.type === "entry" && entry) {
    problems.push(
      `"${node.label}" would be a second entry of tree "${tree}", which starts at "${entry.label}"`,
    );
  }
  const parent = model.nodes.get(model.trees.get(node.tree_id)?.parent_node_id ?? "");
  if (parent?.label === node.label) {
    problems.push(`"${node.label}" is the node that this subtree hangs on: use that one, or another label`);
  }
  if (node.type === "action" && node.subtree_id !== undefined) {
    problems.push(`"${node.label}" has a subtree, so it is a place and no action node`);
  }
  return problems.concat(node.type === "action" ? actionNodeProblems(model, node) : []);
}

function actionNodeProblems(model: AppModel, node: Node): string[] {
  return [...model.edges.values()]
    .filter((edge) => edge.source === node.id)
    .map(
      (edge) =>
        `edge ${edgeLabel(model, edge)} starts at "${node.label}", but an action node is not a place to start from`,
    );
}

/** One line each. `edge` may replace one with its id. */
export function edgeProblems(model: AppModel, edge: Edge): string[] {
  const source = model.nodes.get(edge.source);
  const target = model.nodes.get(edge.target);
  const problems = [
    ...(source ? [] : [`source "${edge.source}" is not a node${didYouMean(edge.source, labelsOf(model))}`]),
    ...(target ? [] : [`target "${edge.target}" is not a node${didYouMean(edge.target, labelsOf(model))}`]),
    ...setProblems(edge.action_sets),
  ];
  if (!source || !target) return problems;
  if (source.id === target.id) problems.push(`"${source.label}" would lead to itself`);
  if (!areJoined(model, source, target)) {
    problems.push(
      `"${source.label}" (tree "${treeName(model, source.tree_id)}") and "${target.label}" (tree "${treeName(model, target.tree_id)}") are in different trees: an edge stays in its tree or joins a node with its own subtree`,
    );
  }
  if (source.type === "action")
    problems.push(`"${source.label}" is an action node, which is not a place to start from`);
  if (target.type === "action" && edge.action_sets.some(({ direction }) => direction === "reverse")) {
    problems.push(`a reverse action set cannot start at the action node "${target.label}"`);
  }
  return problems.concat(sharedSetProblems(model, edge));
}

function areJoined(model: AppModel, source: Node, target: Node): boolean {
  const parentOf = (node: Node) => model.trees.get(node.tree_id)?.parent_node_id;
  return (
    source.tree_id === target.tree_id || parentOf(target) === source.id || parentOf(source) === target.id
  );
}

function setProblems(sets: readonly ActionSet[]): string[] {
  const ids = sets.map(({ id }) => id);
  const twice = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
  return twice.map((id) => `action set "${id}" is there twice`);
}

/** Conditional edges from one source that name the same action set run the same actions. */
function sharedSetProblems(model: AppModel, edge: Edge): string[] {
  return sharingEdges(model, edge).flatMap((other) =>
    edge.action_sets
      .filter((set) =>
        other.action_sets.some(
          ({ id, actions }) => id === set.id && !isDeepStrictEqual(actions, set.actions),
        ),
      )
      .map(
        ({ id }) =>
          `conditional edges share their action sets, and "${id}" of ${edgeLabel(model, other)} has other actions`,
      ),
  );
}

/** The other conditional edges from the same source that share an action set with this one. */
export function sharingEdges(model: AppModel, edge: Edge): Edge[] {
  if (!edge.conditional) return [];
  const ids = new Set(edge.action_sets.map(({ id }) => id));
  return [...model.edges.values()].filter(
    (other) =>
      other.id !== edge.id &&
      other.conditional === true &&
      other.source === edge.source &&
      other.action_sets.some(({ id }) => ids.has(id)),
  );
}

/** What is wrong with a tree below a node, one line each. */
export function treeProblems(model: AppModel, tree: Tree): string[] {
  const parent = model.nodes.get(tree.parent_node_id ?? "");
  const problems: string[] = [];
  if (tree.parent_node_id !== undefined && !parent) problems.push(`tree "${tree.name}" has no parent node`);
  if (parent?.type === "action") problems.push(`"${parent.label}" is an action node and can hold no subtree`);
  if (parent && depthOf(model, parent.tree_id) + 1 > maxDepth) {
    problems.push(`subtrees nest at most ${maxDepth} deep, and "${tree.name}" would be one deeper`);
  }
  if ([...model.trees.values()].some(({ id, name }) => id !== tree.id && name === tree.name)) {
    problems.push(`there already is a tree "${tree.name}": names of trees are unique`);
  }
  return problems;
}
