import type { ActionSet, Edge, Node, Tree } from "../../../domain/index.ts";
import { capFactor, expectedMs, type RunStats, successRate } from "../userinterfaces/weights.ts";

export type GraphTree = Pick<Tree, "id" | "parent_node_id">;
export type GraphNode = Pick<Node, "id" | "tree_id" | "type">;
export type GraphEdge = Pick<Edge, "id" | "source" | "target" | "priority" | "sibling_shortcuts"> & {
  action_sets: readonly Pick<ActionSet, "id" | "direction">[];
};
export type GraphRows = {
  trees: Iterable<GraphTree>;
  nodes: Iterable<GraphNode>;
  edges: Iterable<GraphEdge>;
};

export type StatsSource = {
  edge(edgeId: string, actionSetId: string): RunStats | undefined;
  node(nodeId: string): RunStats | undefined;
};
const noStats: StatsSource = { edge: () => undefined, node: () => undefined };

export type EdgeLeg = {
  kind: "edge" | "sibling";
  from: string;
  to: string;
  edge_id: string;
  action_set_id: string;
};
/** `sibling` starts at another child of the edge's source. `enter` and `exit` change between a node and its subtree's entry. */
export type Leg = EdgeLeg | { kind: "enter" | "exit"; from: string; to: string };

/** `confidence` is the product of the legs' success rates, 0..1. */
export type Path = { legs: Leg[]; expected_ms: number; confidence: number };

/** A way out of a place. Its cost is `ms` plus a tiny part for the edge's priority. */
type Way = { to: string; ms: number; cost: number; rate: number; leg: Leg | undefined };

/** All trees of one app as one graph: the ways out of each place. */
export type NavigationGraph = { nodes: ReadonlySet<string>; ways: ReadonlyMap<string, readonly Way[]> };

/** Weights are whole milliseconds, so this decides only between equal sums. */
const tieOf = { p1: 0, p2: 1e-6, p3: 2e-6 } as const;

/** Builds the graph of one userinterface from its rows, in any order. An edge whose ends are unknown leads nowhere. */
export function buildGraph({ trees, nodes, edges }: GraphRows, stats = noStats): NavigationGraph {
  const byId = new Map([...nodes].map((node) => [node.id, node]));
  const all = [
    ...[...trees].flatMap((tree) => gatesOf(tree, byId)),
    ...[...edges].flatMap((edge) => waysOf(edge, byId, stats)),
  ];
  capCosts(all.map(([, way]) => way));
  const ways = new Map<string, Way[]>();
  for (const [from, way] of all) {
    const known = ways.get(from);
    if (known) known.push(way);
    else ways.set(from, [way]);
  }
  return { nodes: new Set(byId.keys()), ways };
}

type Nodes = ReadonlyMap<string, GraphNode>;
type WayFrom = [from: string, way: Way];

const free = (from: string, to: string, leg?: Leg): WayFrom => [from, { to, ms: 0, cost: 0, rate: 1, leg }];

/** The entry of a subtree is the same place as the node that the subtree hangs on. */
function gatesOf({ id, parent_node_id: parent }: GraphTree, nodes: Nodes): WayFrom[] {
  const entry = [...nodes.values()].find(({ tree_id, type }) => tree_id === id && type === "entry")?.id;
  if (entry === undefined || parent === undefined || !nodes.has(parent)) return [];
  return [
    free(parent, entry, { kind: "enter", from: parent, to: entry }),
    free(entry, parent, { kind: "exit", from: entry, to: parent }),
  ];
}

function waysOf(edge: GraphEdge, nodes: Nodes, stats: StatsSource): WayFrom[] {
  const [source, target] = [nodes.get(edge.source), nodes.get(edge.target)];
  if (!source || !target) return [];
  const wayOf = (leg: EdgeLeg): Way => {
    const known = stats.edge(leg.edge_id, leg.action_set_id);
    const ms = expectedMs(known, stats.node(leg.to));
    return { to: leg.to, ms, cost: tieOf[edge.priority], rate: successRate(known), leg };
  };
  const own = edge.action_sets.flatMap(({ id, direction }): WayFrom[] => {
    const [from, to] = direction === "forward" ? [source, target] : [target, source];
    const leg = { from: from.id, to: to.id, edge_id: edge.id, action_set_id: id };
    return from.type === "action" ? [] : [[from.id, wayOf({ kind: "edge", ...leg })]];
  });
  if (!edge.sibling_shortcuts || target.type === "action") return own;
  // The children of a node meet in a place of their own, so that shortcuts between n of them are 2n ways and not n squared.
  const hub = `children of ${source.id}`;
  const ends = { from: source.id, to: target.id, edge_id: edge.id };
  const forward = edge.action_sets.filter(({ direction }) => direction === "forward");
  const shortcuts = forward.map(
    ({ id }): WayFrom => [hub, wayOf({ kind: "sibling", ...ends, action_set_id: id })],
  );
  return [...own, free(target.id, hub), ...shortcuts];
}

/** No way costs more than 20 times the median, so that one that never worked is a last resort. */
function capCosts(ways: readonly Way[]): void {
  const known = ways.map(({ ms }) => ms).filter((ms) => ms > 0 && ms < Number.POSITIVE_INFINITY);
  const median = Float64Array.from(known).sort()[known.length >> 1];
  const cap = median === undefined ? 1e9 : median * capFactor;
  for (const way of ways) {
    way.ms = Math.min(way.ms, cap);
    way.cost += way.ms;
  }
}

type Reached = { at: string; cost: number; via: Way | undefined; before: Reached | undefined };

/** The way with the least expected time; undefined if there is none. `exclude` holds legs not to walk. */
export function shortestPath(
  graph: NavigationGraph,
  from: string,
  to: string,
  { exclude = [] }: { exclude?: readonly Leg[] } = {},
): Path | undefined {
  if (!graph.nodes.has(from)) return undefined;
  const end = search(graph, from, to, exclude).get(to);
  return end && pathTo(end, from);
}

/** The expected milliseconds to each node that can be reached, the start included. */
export const costsFrom = (graph: NavigationGraph, from: string): ReadonlyMap<string, number> =>
  new Map([...search(graph, from).values()].map(({ at, cost }) => [at, cost]));

function search(
  { ways }: NavigationGraph,
  from: string,
  to?: string,
  exclude: readonly Leg[] = [],
): Map<string, Reached> {
  const closed = new Map<string, Reached>();
  const open = new Map<string, Reached>([[from, { at: from, cost: 0, via: undefined, before: undefined }]]);
  for (let best = cheapest(open); best; best = cheapest(open)) {
    open.delete(best.at);
    closed.set(best.at, best);
    if (best.at === to) break;
    for (const via of ways.get(best.at) ?? []) {
      if (closed.has(via.to) || exclude.some((leg) => isSameWay(via.leg, leg))) continue;
      putCheaper(open, { at: via.to, cost: best.cost + via.cost, via, before: best });
    }
  }
  return closed;
}

function putCheaper(open: Map<string, Reached>, next: Reached): void {
  const known = open.get(next.at);
  if (!known || next.cost < known.cost) open.set(next.at, next);
}

function cheapest(open: ReadonlyMap<string, Reached>): Reached | undefined {
  let best: Reached | undefined;
  for (const one of open.values()) if (!best || one.cost < best.cost) best = one;
  return best;
}

/** A sibling's leg begins where the path comes from, whichever child that is. */
function pathTo(end: Reached, from: string): Path {
  const ways: Way[] = [];
  for (let at: Reached | undefined = end; at?.via; at = at.before) ways.unshift(at.via);
  const path: Path = { legs: [], expected_ms: 0, confidence: 1 };
  for (const { leg, ms, rate } of ways) {
    path.expected_ms += ms;
    path.confidence *= rate;
    if (leg) path.legs.push({ ...leg, from: path.legs.at(-1)?.to ?? from });
  }
  return { ...path, expected_ms: Math.round(path.expected_ms) };
}

function isSameWay(known: Leg | undefined, leg: Leg): boolean {
  if (known?.kind !== leg.kind) return false;
  if ("edge_id" in known && "edge_id" in leg)
    return known.edge_id === leg.edge_id && known.action_set_id === leg.action_set_id;
  return known.from === leg.from && known.to === leg.to;
}
