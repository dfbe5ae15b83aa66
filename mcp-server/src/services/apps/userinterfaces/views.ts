import type { Edge, Node } from "../../../domain/index.ts";
import type { RunSummary } from "../../../storage/rows/navigationRows.ts";
import { type AppModel, edgeLabel, labelOf, treeName } from "./model.ts";
import { successRate, wilson } from "./weights.ts";

/** `tree` is left out in the root tree, `type` for a screen. `checks` is how many verifications prove the place. */
export type NodeLine = { id: string; label: string; type?: string; tree?: string; checks: number };
/** `actions` names the commands of each action set, reverse ones marked with `<`. */
export type EdgeLine = { id: string; edge: string; actions: string; flags?: string };

/** How often it worked: rate with its 95 percent Wilson interval, 0..1, over `runs`. */
export type Reliability = {
  action_set?: string;
  runs: number;
  success_rate: number;
  low: number;
  high: number;
  median_ms: number;
  kpi_median_ms?: number;
};

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
