import type { ActionSet, Edge, Node, Tree } from "../../../domain/index.ts";
import { expectedMs, type RunStats, successRate } from "../userinterfaces/weights.ts";
import { Arcs } from "./arcs.ts";
import { searchArcs } from "./searchArcs.ts";

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

/** What is known of past runs; asked again whenever an edge is weighed. */
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

/** Added to a weight, which is whole milliseconds: it decides between equal sums and nothing else. */
const tieOf = { p1: 0, p2: 1e-6, p3: 2e-6 } as const;

/** `toHub` is half a sibling shortcut: from one of the children to the point between them all. */
type ArcInfo = { leg: Leg | "toHub"; rate: number };

/**
 * All trees of one userinterface as one graph. Every change touches only the arcs it is about; nothing is rebuilt.
 * Siblings meet in a hub below their parent, so that n of them cost 2n arcs and not n squared.
 */
export class NavigationGraph {
  readonly arcs = new Arcs();
  private readonly numbers = new Map<string, number>();
  private readonly nodes = new Map<string, GraphNode>();
  private readonly trees = new Map<string, GraphTree>();
  private readonly edges = new Map<string, { edge: GraphEdge; arcs: number[] }>();
  private readonly hubs = new Map<string, number>();
  /** By tree: the entry node of each, and the two arcs that join a subtree's entry to the tree above. */
  private readonly entries = new Map<string, string>();
  private readonly gates = new Map<string, number[]>();
  private readonly infos: (ArcInfo | undefined)[] = [];

  constructor(private readonly stats: StatsSource) {}

  addTree(tree: GraphTree): void {
    this.trees.set(tree.id, tree);
    this.openGate(tree.id);
  }

  /** Its nodes and edges are removed one by one before. */
  removeTree(treeId: string): void {
    this.closeGate(treeId);
    this.trees.delete(treeId);
  }

  /** Adds a node or changes it; a change of type makes its gate and the arcs at it anew. */
  putNode(node: GraphNode): void {
    const known = this.nodes.get(node.id);
    this.nodes.set(node.id, node);
    if (!known) this.numbers.set(node.id, this.arcs.addNode());
    else if (known.type === node.type) return;
    if (known?.type === "entry") {
      this.closeGate(node.tree_id);
      this.entries.delete(node.tree_id);
    }
    if (node.type === "entry") {
      this.entries.set(node.tree_id, node.id);
      this.openGate(node.tree_id);
    }
    if (known) for (const { edge } of this.edgesOf(node.id)) this.putEdge(edge);
  }

  /** Removes the edges at the node with it. */
  removeNode(nodeId: string): void {
    const node = this.nodes.get(nodeId);
    const number = this.numbers.get(nodeId);
    if (node === undefined || number === undefined) return;
    for (const { edge } of this.edgesOf(nodeId)) this.removeEdge(edge.id);
    for (const tree of this.trees.values()) if (tree.parent_node_id === nodeId) this.closeGate(tree.id);
    if (node.type === "entry") {
      this.closeGate(node.tree_id);
      this.entries.delete(node.tree_id);
    }
    const hub = this.hubs.get(nodeId);
    if (hub !== undefined) this.arcs.removeNode(hub);
    this.hubs.delete(nodeId);
    this.arcs.removeNode(number);
    this.numbers.delete(nodeId);
    this.nodes.delete(nodeId);
  }

  /** Adds an edge or puts it in the place of the one with its id. An edge whose ends are unknown has no arcs. */
  putEdge(edge: GraphEdge): void {
    if (this.edges.has(edge.id)) this.removeEdge(edge.id);
    const arcs: number[] = [];
    this.edges.set(edge.id, { edge, arcs });
    const source = this.nodes.get(edge.source);
    const target = this.nodes.get(edge.target);
    if (!source || !target) return;
    for (const { id, direction } of edge.action_sets) {
      const [from, to] = direction === "forward" ? [source, target] : [target, source];
      if (from.type === "action") continue;
      const way = { from: from.id, to: to.id, edge_id: edge.id, action_set_id: id };
      arcs.push(this.addLeg({ kind: "edge", ...way }, edge));
    }
    if (edge.sibling_shortcuts && target.type !== "action") arcs.push(...this.joinSiblings(edge));
  }

  removeEdge(edgeId: string): void {
    for (const arc of this.edges.get(edgeId)?.arcs ?? []) this.removeArc(arc);
    this.edges.delete(edgeId);
  }

  /** Weighs an edge again after one of its runs. */
  reweigh(edgeId: string): void {
    const known = this.edges.get(edgeId);
    if (known) this.putEdge(known.edge);
  }

  /** Weighs what leads to a node again after a run of its checks. */
  reweighInto(nodeId: string): void {
    for (const edgeId of this.edgesAt(nodeId)) this.reweigh(edgeId);
  }

  numberOf(nodeId: string): number | undefined {
    return this.numbers.get(nodeId);
  }

  /** The arcs that walk one of `legs`, wherever a sibling's way starts. */
  arcsOf(legs: Iterable<Leg>): Set<number> {
    const found = new Set<number>();
    for (const leg of legs) {
      const arcs = "edge_id" in leg ? this.edges.get(leg.edge_id)?.arcs : [...this.gates.values()].flat();
      for (const arc of arcs ?? []) if (isSameWay(this.infos[arc]?.leg, leg)) found.add(arc);
    }
    return found;
  }

  /** Turns arcs in walking order into legs; the two halves of a sibling shortcut become one. */
  pathOf(way: readonly number[], from: string): Path {
    const legs: Leg[] = [];
    const cap = this.arcs.cap();
    let expected = 0;
    let confidence = 1;
    let at = from;
    for (const arc of way) {
      const info = this.infos[arc];
      expected += Math.min(this.arcs.weight[arc] ?? 0, cap);
      if (!info || info.leg === "toHub") continue;
      legs.push({ ...info.leg, from: at });
      confidence *= info.rate;
      at = info.leg.to;
    }
    return { legs, expected_ms: Math.round(expected), confidence };
  }

  private addLeg(leg: Leg & { kind: "edge" | "sibling" }, edge: GraphEdge, start?: number): number {
    const stats = this.stats.edge(edge.id, leg.action_set_id);
    const weight = expectedMs(stats, this.stats.node(leg.to));
    const from = start ?? this.numbers.get(leg.from) ?? 0;
    return this.addArc(from, this.numbers.get(leg.to) ?? 0, weight, tieOf[edge.priority], {
      leg,
      rate: successRate(stats),
    });
  }

  private joinSiblings(edge: GraphEdge): number[] {
    const hub = this.hubs.get(edge.source) ?? this.arcs.addNode();
    this.hubs.set(edge.source, hub);
    const child = this.numbers.get(edge.target) ?? 0;
    const way = { from: edge.source, to: edge.target, edge_id: edge.id };
    return [
      this.addArc(child, hub, 0, 0, { leg: "toHub", rate: 1 }),
      ...edge.action_sets
        .filter(({ direction }) => direction === "forward")
        .map(({ id }) => this.addLeg({ kind: "sibling", ...way, action_set_id: id }, edge, hub)),
    ];
  }

  /** Also those that have no arcs, since nobody may walk them. */
  private edgesOf(nodeId: string): { edge: GraphEdge }[] {
    return [...this.edges.values()].filter(({ edge }) => edge.source === nodeId || edge.target === nodeId);
  }

  /** The entry of a subtree is the same place as the node that the subtree hangs on. */
  private openGate(treeId: string): void {
    this.closeGate(treeId);
    const parentId = this.trees.get(treeId)?.parent_node_id;
    const entryId = this.entries.get(treeId);
    if (parentId === undefined || entryId === undefined) return;
    const parent = this.numbers.get(parentId);
    const entry = this.numbers.get(entryId);
    if (parent === undefined || entry === undefined) return;
    const enter: Leg = { kind: "enter", from: parentId, to: entryId };
    const exit: Leg = { kind: "exit", from: entryId, to: parentId };
    this.gates.set(treeId, [
      this.addArc(parent, entry, 0, 0, { leg: enter, rate: 1 }),
      this.addArc(entry, parent, 0, 0, { leg: exit, rate: 1 }),
    ]);
  }

  private closeGate(treeId: string): void {
    for (const arc of this.gates.get(treeId) ?? []) this.removeArc(arc);
    this.gates.delete(treeId);
  }

  private addArc(from: number, to: number, weight: number, tie: number, info: ArcInfo): number {
    const arc = this.arcs.addArc(from, to, weight, tie);
    this.infos[arc] = info;
    return arc;
  }

  private removeArc(arc: number): void {
    this.infos[arc] = undefined;
    this.arcs.removeArc(arc);
  }

  private edgesAt(nodeId: string): Set<string> {
    const found = new Set<string>();
    const number = this.numbers.get(nodeId);
    if (number === undefined) return found;
    for (const arc of [...this.arcs.outOf(number), ...this.arcs.into(number)]) {
      const leg = this.infos[arc]?.leg;
      if (leg && leg !== "toHub" && "edge_id" in leg) found.add(leg.edge_id);
    }
    return found;
  }
}

function isSameWay(known: ArcInfo["leg"] | undefined, leg: Leg): boolean {
  if (known === undefined || known === "toHub" || known.kind !== leg.kind) return false;
  if ("edge_id" in known && "edge_id" in leg) {
    return known.edge_id === leg.edge_id && known.action_set_id === leg.action_set_id;
  }
  return known.from === leg.from && known.to === leg.to;
}

/** Builds a graph from the rows of one userinterface, in any order. */
export function buildGraph(rows: GraphRows, stats: StatsSource): NavigationGraph {
  const graph = new NavigationGraph(stats);
  for (const node of rows.nodes) graph.putNode(node);
  for (const tree of rows.trees) graph.addTree(tree);
  for (const edge of rows.edges) graph.putEdge(edge);
  return graph;
}

/** The way with the least expected time; undefined if there is none. `exclude` holds legs not to walk. */
export function shortestPath(
  graph: NavigationGraph,
  from: string,
  to: string,
  options: { exclude?: Iterable<Leg> } = {},
): Path | undefined {
  const start = graph.numberOf(from);
  const goal = graph.numberOf(to);
  if (start === undefined || goal === undefined) return undefined;
  const way = searchArcs(graph.arcs, start, goal, graph.arcsOf(options.exclude ?? []));
  return way && graph.pathOf(way, from);
}
