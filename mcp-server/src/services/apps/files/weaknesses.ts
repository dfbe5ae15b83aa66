import type { Node } from "../../../domain/index.ts";
import { buildGraph, reachableFrom } from "../navigation/graph.ts";
import { type AppModel, findEntry } from "../userinterfaces/model.ts";

/** `node` is the id of the node that is weak. */
type Weakness = { node: string; message: string };

/** Nodes that run, but that nothing proves or nobody can reach. */
export function weaknessesOf(model: AppModel): Weakness[] {
  const rows = { trees: model.trees.values(), nodes: model.nodes.values(), edges: model.edges.values() };
  const graph = buildGraph(rows, { edge: () => undefined, node: () => undefined });
  const entry = findEntry(model);
  const reached = entry && reachableFrom(graph, entry.id);
  const isLost = ({ id }: Node) => reached?.has(id) === false;
  return [...model.nodes.values()].flatMap((node) => {
    const { id: at, label, type, verifications } = node;
    const isPlace = type !== "entry" && type !== "action";
    const unproven = `"${label}" has no check, so that nothing says whether it was reached`;
    const lost = `no edges lead from the entry to "${label}", so that neither it nor the edges that begin there can be reached`;
    return [
      ...(isPlace && verifications.length === 0 ? [{ node: at, message: unproven }] : []),
      ...(isLost(node) ? [{ node: at, message: lost }] : []),
    ];
  });
}
