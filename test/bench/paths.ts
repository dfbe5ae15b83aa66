import { DirectedGraph } from "graphology";
import dijkstra from "graphology-shortest-path/dijkstra.js";
import {
  buildGraph,
  type GraphEdge,
  type GraphRows,
  type NavigationGraph,
  shortestPath,
} from "../../mcp-server/src/services/apps/navigation/graph.ts";
import { expectedMs } from "../../mcp-server/src/services/apps/userinterfaces/weights.ts";
import type { Measurement } from "./rows.ts";
import { median, percentile } from "./statistics.ts";

const nodeCount = 10_000;
const edgeCount = 30_000;
const queries = 300;
const warmUps = 50;
const builds = 7;

/** Small and seeded (mulberry32), so that every run has the same graph. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const next = random(4711);
const below = (limit: number): number => Math.floor(next() * limit);
const idOf = (node: number): string => `00000000-0000-4000-8000-${String(node).padStart(12, "0")}`;

function edge(index: number, source: number, target: number): GraphEdge {
  const action_sets = [{ id: "forward", direction: "forward" as const }];
  return { id: `edge-${index}`, source: idOf(source), target: idOf(target), priority: "p2", action_sets };
}

/** A chain through all nodes, so that every one is reached, and random edges beside it. */
function makeRows(): GraphRows & { edges: GraphEdge[] } {
  const nodes = Array.from({ length: nodeCount }, (_, i) => ({
    id: idOf(i),
    tree_id: "tree",
    type: i === 0 ? ("entry" as const) : ("screen" as const),
  }));
  const edges = Array.from({ length: edgeCount }, (_, i) =>
    i < nodeCount ? edge(i, i, (i + 1) % nodeCount) : edge(i, below(nodeCount), below(nodeCount)),
  ).map((one) => (one.source === one.target ? { ...one, target: idOf(0) } : one));
  return { trees: [{ id: "tree" }], nodes, edges };
}

/** What ours found in the reference graph's own weights, so that a wrong path cannot look fast. */
function costIn(reference: DirectedGraph, path: readonly string[]): number {
  return path
    .slice(1)
    .reduce((sum, to, i) => sum + Number(reference.getEdgeAttribute(path[i], to, "weight")), 0);
}

function timedSync<Result>(run: () => Result): { ms: number; result: Result } {
  const start = performance.now();
  const result = run();
  return { ms: performance.now() - start, result };
}

function search(graph: NavigationGraph, reference: DirectedGraph): { ours: number[]; theirs: number[] } {
  const times = { ours: [] as number[], theirs: [] as number[] };
  for (let round = -warmUps; round < queries; round++) {
    const [from, to] = [idOf(below(nodeCount)), idOf(below(nodeCount))];
    const ours = timedSync(() => shortestPath(graph, from, to));
    const theirs = timedSync(() => dijkstra.bidirectional(reference, from, to, "weight"));
    const found = [from, ...(ours.result?.legs ?? []).map((leg) => leg.to)];
    if (costIn(reference, found) !== costIn(reference, theirs.result))
      throw new Error(`From ${from} to ${to} the two paths differ in cost.`);
    if (round < 0) continue;
    times.ours.push(ours.ms);
    times.theirs.push(theirs.ms);
  }
  return times;
}

function edit(graph: NavigationGraph, edges: readonly GraphEdge[]): number[] {
  return Array.from({ length: queries }, () => {
    const one = edges[below(edges.length)];
    const [from, to] = [idOf(below(nodeCount)), idOf(below(nodeCount))];
    return timedSync(() => {
      if (one) graph.putEdge({ ...one, target: idOf(below(nodeCount)) });
      shortestPath(graph, from, to);
    }).ms;
  });
}

/** Path finding in one process, against graphology's bidirectional Dijkstra on the same graph and the same weights. */
export function measurePaths(): Measurement[] {
  const rows = makeRows();
  const duration = new Map(rows.edges.map(({ id }) => [id, 200 + below(2_000)]));
  const statsOf = (id: string) => ({ runs: 10, successes: 9, median_ms: duration.get(id) ?? 0 });
  const stats = { edge: statsOf, node: () => undefined };
  const built = Array.from({ length: builds }, () => timedSync(() => buildGraph(rows, stats)));
  const graph = built.at(-1)?.result ?? buildGraph(rows, stats);
  const reference = new DirectedGraph();
  for (const { id } of rows.nodes) reference.addNode(id);
  for (const { id, source, target } of rows.edges) {
    const weight = expectedMs(statsOf(id), undefined);
    const known = reference.hasEdge(source, target)
      ? Number(reference.getEdgeAttribute(source, target, "weight"))
      : Number.POSITIVE_INFINITY;
    reference.mergeEdge(source, target, { weight: Math.min(weight, known) });
  }
  const { ours, theirs } = search(graph, reference);
  const beside = { runs: ours.length };
  return [
    { id: "path.p95", ours: percentile(ours, 0.95), theirs: percentile(theirs, 0.95), ...beside },
    { id: "path.ratio", ours: median(ours), theirs: median(theirs), ...beside },
    { id: "path.build", ours: median(built.map(({ ms }) => ms)), runs: builds },
    { id: "path.edit", ours: median(edit(graph, rows.edges)), runs: queries },
  ];
}
