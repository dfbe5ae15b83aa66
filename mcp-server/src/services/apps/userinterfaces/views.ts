import type { AppMap, Edge, Node, Reliability } from "../../../domain/index.ts";
import type { RunSummary } from "../../../storage/rows/navigationRows.ts";
import { type AppModel, edgeLabel, labelOf, treeName } from "./model.ts";
import { successRate, wilson } from "./weights.ts";

/** `tree` is left out in the root tree, `type` for a screen. `checks` is how many verifications prove the place. */
export type NodeLine = { id: string; label: string; type?: string; tree?: string; checks: number };
/** `actions` names the commands of each action set, reverse ones marked with `<`. */
export type EdgeLine = { id: string; edge: string; actions: string; flags?: string };

export function nodeLine(model: AppModel, node: Node): NodeLine {
  return {
    id: node.id,
    label: node.label,
    ...(node.type !== "screen" && { type: node.type }),
    ...(node.tree_id !== model.ui.root_tree_id && { tree: treeName(model, node.tree_id) }),
    checks: node.verifications.length,
  };
}

export function edgeLine(model: AppModel, edge: Edge): EdgeLine {
  const actions = edge.action_sets.map(({ direction, actions: steps }) => {
    const names = steps.map(({ command }) => command).join(", ") || "no action";
    return direction === "reverse" ? `< ${names}` : names;
  });
  const flags = [
    ...(edge.priority === "p2" ? [] : [edge.priority]),
    ...(edge.conditional ? ["conditional"] : []),
    ...(edge.sibling_shortcuts ? ["sibling shortcuts"] : []),
  ];
  return {
    id: edge.id,
    edge: edgeLabel(model, edge),
    actions: actions.join("; "),
    ...(flags.length > 0 && { flags: flags.join(", ") }),
  };
}

export function nodeView(model: AppModel, node: Node, history: readonly RunSummary[]) {
  const { tree_id, subtree_id, position, ...rest } = node;
  return {
    ...rest,
    tree: treeName(model, tree_id),
    ...((position.x !== 0 || position.y !== 0) && { position }),
    ...(subtree_id && { subtree: treeName(model, subtree_id) }),
    reliability: history.map(reliabilityOf),
  };
}

export function edgeView(model: AppModel, edge: Edge, history: readonly RunSummary[]) {
  const { tree_id, conditional, sibling_shortcuts, final_wait_ms, ...rest } = edge;
  return {
    ...rest,
    source: labelOf(model, edge.source),
    target: labelOf(model, edge.target),
    tree: treeName(model, tree_id),
    ...(conditional && { conditional }),
    ...(sibling_shortcuts && { sibling_shortcuts }),
    ...(final_wait_ms > 0 && { final_wait_ms }),
    reliability: history.map(reliabilityOf),
  };
}

export function mapView(model: AppModel, history: readonly RunSummary[]): AppMap {
  const { id, name, models, root_tree_id } = model.ui;
  return {
    ...{ id, name, models },
    trees: [...model.trees.values()].map(({ parent_node_id: below, ...tree }) => ({
      ...{ id: tree.id, name: tree.name, ...(tree.id !== root_tree_id && below && { below }) },
    })),
    nodes: [...model.nodes.values()].map(({ verifications, screenshot, tree_id, ...node }) => ({
      ...{ id: node.id, label: node.label, type: node.type, tree: tree_id, checks: verifications.length },
      ...(screenshot !== undefined && { picture: screenshot }),
    })),
    edges: [...model.edges.values()].map(({ id: edge, source, target, action_sets }) => ({
      ...{ id: edge, source, target, back: action_sets.some(({ direction }) => direction === "reverse") },
      reliability: history.filter(({ subject_id }) => subject_id === edge).map(reliabilityOf),
    })),
  };
}

function reliabilityOf(summary: RunSummary): Reliability {
  const { low, high } = wilson(summary.successes, summary.runs);
  return {
    ...(summary.action_set_id !== undefined && { action_set: summary.action_set_id }),
    runs: summary.runs,
    success_rate: rounded(summary.runs > 0 ? summary.successes / summary.runs : successRate(undefined)),
    low: rounded(low),
    high: rounded(high),
    median_ms: Math.round(summary.median_ms),
    ...(summary.kpi_median_ms !== undefined && { kpi_median_ms: Math.round(summary.kpi_median_ms) }),
  };
}

const rounded = (rate: number) => Math.round(rate * 1_000) / 1_000;
