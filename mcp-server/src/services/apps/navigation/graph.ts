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

/** What is known of past runs. */
export type StatsSource = {
  edge(edgeId: string, actionSetId: string): RunStats | undefined;
  node(nodeId: string): RunStats | undefined;
};

/**
 * One step of a path. An `edge` and a `sibling` run an action set; a sibling starts at another child of the edge's
 * source. `enter` and `exit` change between a node and the entry of its subtree, which are one place.
 */
export type Leg =
  | { kind: "edge" | "sibling"; from: string; to: string; edge_id: string; action_set_id: string }
  | { kind: "enter" | "exit"; from: string; to: string };

/** `confidence` is the product of the legs' success rates, 0..1. */
export type Path = { legs: Leg[]; expected_ms: number; confidence: number };

/** A way out of a place. Its cost decides between ways: `ms`, and by far less the edge's priority. */
type Way = { to: string; ms: number; cost: number; rate: number; leg: Leg | undefined };

/** All trees of one app as one graph: the ways out of each place. */
export type NavigationGraph = { nodes: ReadonlySet<string>; ways: ReadonlyMap<string, readonly Way[]> };

/** Added to a weight, which is whole milliseconds: it decides between equal sums and nothing else. */
const tieOf = { p1: 0, p2: 1e-6, p3: 2e-6 } as const;

/** Where the children of a node meet, so that shortcuts between n of them are 2n ways and not n squared. */
const hubOf = (parentId: string) => `children of ${parentId}`;

/** Builds the graph of one userinterface from its rows, in any order. An edge whose ends are unknown leads nowhere. */
export function buildGraph(rows: GraphRows, stats: StatsSource): NavigationGraph {
  const nodes = new Map([...rows.nodes].map((node) => [node.id, node]));
  const builder = new Builder(nodes, stats);
  for (const tree of rows.trees) builder.addGate(tree);
  for (const edge of rows.edges) builder.addEdge(edge);
  const { ways } = builder;
  capCosts([...ways.values()].flat());
  return { nodes: new Set(nodes.keys()), ways };
}

class Builder {
  readonly ways = new Map<string, Way[]>();

  constructor(
    private readonly nodes: ReadonlyMap<string, GraphNode>,
    private readonly stats: StatsSource,
  ) {}

  /** The entry of a subtree is the same place as the node that the subtree hangs on. */
  addGate({ id, parent_node_id: parent }: GraphTree): void {
    const entry = [...this.nodes.values()].findLast(
      ({ tree_id, type }) => tree_id === id && type === "entry",
    );
    if (!entry || parent === undefined || !this.nodes.has(parent)) return;
    this.addFree(parent, entry.id, { kind: "enter", from: parent, to: entry.id });
    this.addFree(entry.id, parent, { kind: "exit", from: entry.id, to: parent });
  }

  addEdge(edge: GraphEdge): void {
    const [source, target] = [this.nodes.get(edge.source), this.nodes.get(edge.target)];
    if (!source || !target) return;
    for (const { id, direction } of edge.action_sets) {
      const [from, to] = direction === "forward" ? [source, target] : [target, source];
      const leg = { from: from.id, to: to.id, edge_id: edge.id, action_set_id: id };
      if (from.type !== "action") this.addRun(from.id, { kind: "edge", ...leg }, edge);
    }
    if (edge.sibling_shortcuts && target.type !== "action") this.joinSiblings(edge);
  }

  private joinSiblings(edge: GraphEdge): void {
    const hub = hubOf(edge.source);
    this.addFree(edge.target, hub);
    const leg = { kind: "sibling" as const, from: edge.source, to: edge.target, edge_id: edge.id };
    for (const { id, direction } of edge.action_sets)
      if (direction === "forward") this.addRun(hub, { ...leg, action_set_id: id }, edge);
  }

  private addRun(at: string, leg: Leg & { kind: "edge" | "sibling" }, { priority }: GraphEdge): void {
    const known = this.stats.edge(leg.edge_id, leg.action_set_id);
    const ms = expectedMs(known, this.stats.node(leg.to));
    this.add(at, { to: leg.to, ms, cost: tieOf[priority], rate: successRate(known), leg });
  }

  private addFree(from: string, to: string, leg?: Leg): void {
    this.add(from, { to, ms: 0, cost: 0, rate: 1, leg });
  }

  private add(from: string, way: Way): void {
    const known = this.ways.get(from);
    if (known) known.push(way);
    else this.ways.set(from, [way]);
  }
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

/** The way with the least expected time, by Dijkstra; undefined if there is none. `exclude` holds legs not to walk. */
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

/** Every node that some way leads to, the start among them. */
export const reachableFrom = (graph: NavigationGraph, from: string): ReadonlySet<string> =>
  new Set(search(graph, from).keys());

function search(
  { ways }: NavigationGraph,
  from: string,
  to?: string,
  exclude: readonly Leg[] = [],
): Map<string, Reached> {
  const closed = new Map<string, Reached>();
  const open = new Heap();
  open.put({ at: from, cost: 0, via: undefined, before: undefined });
  for (let best = open.take(); best; best = open.take()) {
    if (closed.has(best.at)) continue;
    closed.set(best.at, best);
    if (best.at === to) break;
    for (const via of ways.get(best.at) ?? []) {
      if (closed.has(via.to) || exclude.some((leg) => isSameWay(via.leg, leg))) continue;
      open.put({ at: via.to, cost: best.cost + via.cost, via, before: best });
    }
  }
  return closed;
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

/** A binary heap by cost. */
class Heap {
  private readonly items: Reached[] = [];

  put(item: Reached): void {
    const { items } = this;
    let at = items.push(item) - 1;
    for (let up = (at - 1) >> 1; at > 0 && this.cost(up) > item.cost; up = (at - 1) >> 1) {
      this.swap(at, up);
      at = up;
    }
  }

  take(): Reached | undefined {
    const { items } = this;
    this.swap(0, items.length - 1);
    const least = items.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = this.cost(left + 1) < this.cost(left) ? left + 1 : left;
      if (this.cost(child) >= this.cost(at)) return least;
      this.swap(at, child);
      at = child;
    }
  }

  private cost(at: number): number {
    return this.items[at]?.cost ?? Number.POSITIVE_INFINITY;
  }

  private swap(a: number, b: number): void {
    const { items } = this;
    const [first, second] = [items[a], items[b]];
    if (first === undefined || second === undefined) return;
    items[a] = second;
    items[b] = first;
  }
}
