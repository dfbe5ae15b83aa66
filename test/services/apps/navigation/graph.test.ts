import { MultiDirectedGraph } from "graphology";
import { dijkstra } from "graphology-shortest-path";
import { describe, expect, test } from "vitest";
import {
  buildGraph,
  costsFrom,
  type GraphEdge,
  type GraphNode,
  type GraphTree,
  type Leg,
  type Path,
  type StatsSource,
  shortestPath,
} from "#mcp-server/services/apps/navigation/graph.ts";
import { expectedMs } from "#mcp-server/services/apps/userinterfaces/weights.ts";

type Rows = { trees: GraphTree[]; nodes: GraphNode[]; edges: GraphEdge[] };

/** A generator with a seed (mulberry32), so that a failure can be run again. */
function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const node = (id: string, rest: Partial<GraphNode> = {}): GraphNode => ({
  id,
  tree_id: "root",
  type: "screen",
  ...rest,
});
const edge = (id: string, source: string, target: string, rest: Partial<GraphEdge> = {}): GraphEdge => ({
  id,
  source,
  target,
  priority: "p2",
  action_sets: [{ id: "forward", direction: "forward" }],
  ...rest,
});
const bothWays = [
  { id: "forward", direction: "forward" as const },
  { id: "back", direction: "reverse" as const },
];
const root: GraphTree = { id: "root" };
const rowsOf = (nodes: GraphNode[], edges: GraphEdge[], trees: GraphTree[] = [root]): Rows => ({
  nodes,
  edges,
  trees,
});

/** Places of one letter each, and edges named by their two ends. */
const small = (places: string, ...edges: string[]) =>
  rowsOf(
    [...places].map((id) => node(id)),
    edges.map((id) => edge(id, id.slice(0, 1), id.slice(1))),
  );

/** Ten good runs of `ms` each make a weight of that time over a rate that is the same for all. */
const timed = (times: ReadonlyMap<string, number>): StatsSource => ({
  edge: (id) => ({ runs: 10, successes: 10, median_ms: times.get(id) ?? 1_000 }),
  node: () => undefined,
});
const untimed: StatsSource = { edge: () => undefined, node: () => undefined };

const ways = (path: Path | undefined) => path?.legs.map((leg) => ("edge_id" in leg ? leg.edge_id : leg.kind));
const stops = (path: Path | undefined) => path?.legs.map(({ to }) => to);

function randomRows(
  seed: number,
  nodeCount: number,
  edgeCount: number,
): { rows: Rows; times: Map<string, number> } {
  const next = random(seed);
  const nodes = Array.from({ length: nodeCount }, (_, n) => node(`n${n}`));
  const edges: GraphEdge[] = [];
  const times = new Map<string, number>();
  for (let n = 0; n < edgeCount; n++) {
    edges.push(edge(`e${n}`, `n${next(nodeCount)}`, `n${next(nodeCount)}`));
    times.set(`e${n}`, 100 + next(900));
  }
  return { rows: rowsOf(nodes, edges), times };
}

/** The same graph for graphology, weighed by our own weights; no way is near the cap. */
function theirs({ nodes, edges }: Rows, stats: StatsSource): MultiDirectedGraph {
  const other = new MultiDirectedGraph();
  for (const { id } of nodes) other.addNode(id);
  for (const { id, source, target } of edges)
    other.addEdge(source, target, { weight: expectedMs(stats.edge(id, "forward"), stats.node(target)) });
  return other;
}
const legOf = (id: string, from: string, to: string): Leg => ({
  kind: "edge",
  from,
  to,
  edge_id: id,
  action_set_id: "forward",
});

function theirCost(graph: MultiDirectedGraph, from: string, to: string): number | undefined {
  const path: string[] | null = dijkstra.bidirectional(graph, from, to, "weight");
  if (!path) return undefined;
  return path.slice(1).reduce((sum, at, n) => {
    const weights = graph.outEdges(path[n], at).map((one) => Number(graph.getEdgeAttribute(one, "weight")));
    return sum + Math.min(...weights);
  }, 0);
}

describe("the shortest path", () => {
  test.each([
    1, 2, 3, 4, 5, 6, 7, 8,
  ])("costs what graphology's Dijkstra finds, in random graph %i", (seed) => {
    const { rows, times } = randomRows(seed, 60, 60 + seed * 20);
    const graph = buildGraph(rows, timed(times));
    const other = theirs(rows, timed(times));
    const next = random(seed + 100);
    for (let n = 0; n < 40; n++) {
      const [from, to] = [`n${next(60)}`, `n${next(60)}`];
      expect(shortestPath(graph, from, to)?.expected_ms, `${from} to ${to}`).toBe(theirCost(other, from, to));
    }
  });

  test("is a walk along edges from the start to the goal", () => {
    const { rows, times } = randomRows(42, 60, 240);
    const graph = buildGraph(rows, timed(times));
    const path = shortestPath(graph, "n0", "n59");
    expect(path?.legs.length).toBeGreaterThan(1);
    let at = "n0";
    for (const leg of path?.legs ?? []) {
      const walked = rows.edges.find(({ id }) => "edge_id" in leg && id === leg.edge_id);
      expect([leg.from, leg.from, leg.to]).toEqual([at, walked?.source, walked?.target]);
      at = leg.to;
    }
    expect(at).toBe("n59");
  });

  test("from a place to itself is empty and certain", () => {
    const graph = buildGraph(small("a"), untimed);
    expect(shortestPath(graph, "a", "a")).toEqual({ legs: [], expected_ms: 0, confidence: 1 });
  });

  test("is undefined where no edge leads, and for a node that no one knows", () => {
    const graph = buildGraph(small("ab", "ab"), untimed);
    expect(shortestPath(graph, "b", "a")).toBeUndefined();
    expect(shortestPath(graph, "a", "nowhere")).toBeUndefined();
  });

  test("multiplies the success rates into its confidence", () => {
    const rows = small("abc", "ab", "bc");
    const rates = new Map([
      ["ab", { runs: 10, successes: 9, median_ms: 100 }],
      ["bc", { runs: 10, successes: 8, median_ms: 100 }],
    ]);
    const graph = buildGraph(rows, { ...untimed, edge: (id) => rates.get(id) });
    expect(shortestPath(graph, "a", "c")?.confidence).toBeCloseTo(0.72);
  });

  test("prefers two reliable edges over a short one that mostly fails", () => {
    const graph = buildGraph(small("abc", "ab", "bc", "ac"), {
      ...untimed,
      edge: (id) => ({ runs: 20, successes: id === "ac" ? 2 : 20, median_ms: 500 }),
    });
    expect(ways(shortestPath(graph, "a", "c"))).toEqual(["ab", "bc"]);
  });

  test("counts the time of the target's checks", () => {
    const checks = (id: string) => ({ runs: 9, successes: 9, median_ms: id === "s" ? 900 : 10 });
    const graph = buildGraph(small("asqz", "as", "aq", "sz", "qz"), { ...untimed, node: checks });
    expect(stops(shortestPath(graph, "a", "z"))).toEqual(["q", "z"]);
  });

  const parallel = (...priorities: GraphEdge["priority"][]) =>
    rowsOf(
      [node("a"), node("b")],
      priorities.map((priority) => edge(priority, "a", "b", { priority })),
    );

  test("takes the better priority among ways of the same time, however they were added", () => {
    for (const rows of [parallel("p1", "p3"), parallel("p3", "p1")])
      expect(ways(shortestPath(buildGraph(rows, untimed), "a", "b"))).toEqual(["p1"]);
  });

  test("lets no priority outweigh a millisecond", () => {
    const times = new Map([["p1", 1_001]]);
    expect(ways(shortestPath(buildGraph(parallel("p1", "p3"), timed(times)), "a", "b"))).toEqual(["p3"]);
  });

  test("counts an edge that never worked as 20 times the median, no more", () => {
    const names = Array.from({ length: 25 }, (_, n) => `n${n}`);
    const chain = names.slice(1).map((to, n) => edge(`c${n}`, `n${n}`, to));
    const rows = rowsOf(
      names.map((id) => node(id)),
      [...chain, edge("broken", "n0", "n24"), edge("half", "n0", "n12")],
    );
    const graph = buildGraph(rows, {
      ...untimed,
      edge: (id) => ({ runs: 10, successes: id === "broken" ? 0 : 10, median_ms: 100 }),
    });
    const weight = shortestPath(graph, "n0", "n1")?.expected_ms ?? 0;
    expect(shortestPath(graph, "n0", "n24", { exclude: [legOf("half", "n0", "n12")] })).toMatchObject({
      legs: [{ edge_id: "broken" }],
      expected_ms: 20 * weight,
    });
    expect(shortestPath(graph, "n0", "n24")?.legs[0]).toMatchObject({ edge_id: "half" });
  });

  test("goes around what it shall exclude", () => {
    const graph = buildGraph(small("abc", "ac", "ab", "bc"), untimed);
    expect(ways(shortestPath(graph, "a", "c"))).toEqual(["ac"]);
    expect(ways(shortestPath(graph, "a", "c", { exclude: [legOf("ac", "a", "c")] }))).toEqual(["ab", "bc"]);
    const both = [legOf("ac", "a", "c"), legOf("bc", "b", "c")];
    expect(shortestPath(graph, "a", "c", { exclude: both })).toBeUndefined();
  });
});

describe("kinds of edges", () => {
  test("a reverse action set leads back", () => {
    const rows = rowsOf([node("a"), node("b")], [edge("ab", "a", "b", { action_sets: bothWays })]);
    const graph = buildGraph(rows, untimed);
    expect(shortestPath(graph, "b", "a")?.legs).toEqual([
      { kind: "edge", from: "b", to: "a", edge_id: "ab", action_set_id: "back" },
    ]);
  });

  test("siblings reach each other by the edges of their parent, and nothing else does", () => {
    const nodes = ["parent", "one", "two", "three", "other"].map((id) => node(id));
    const tab = (id: string) => edge(`to-${id}`, "parent", id, { sibling_shortcuts: true });
    const graph = buildGraph(
      rowsOf(nodes, [tab("one"), tab("two"), tab("three"), edge("to-other", "parent", "other")]),
      untimed,
    );
    expect(shortestPath(graph, "one", "three")?.legs).toEqual([
      { kind: "sibling", from: "one", to: "three", edge_id: "to-three", action_set_id: "forward" },
    ]);
    expect(shortestPath(graph, "one", "other")).toBeUndefined();
    expect(shortestPath(graph, "other", "one")).toBeUndefined();
    expect(shortestPath(graph, "one", "parent")).toBeUndefined();
  });

  test("a sibling's failed shortcut does not close its parent's edge", () => {
    const tab = (id: string) => edge(`to-${id}`, "parent", id, { sibling_shortcuts: true });
    const rows = rowsOf(
      ["parent", "one", "two"].map((id) => node(id)),
      [tab("one"), tab("two"), edge("up", "one", "parent")],
    );
    const graph = buildGraph(rows, untimed);
    const [shortcut] = shortestPath(graph, "one", "two")?.legs ?? [];
    expect(shortcut?.kind).toBe("sibling");
    expect(ways(shortestPath(graph, "one", "two", { exclude: shortcut ? [shortcut] : [] }))).toEqual([
      "up",
      "to-two",
    ]);
  });

  test("an action node is a goal, never a way through", () => {
    const rows = rowsOf(
      [node("a"), node("mute", { type: "action" }), node("b")],
      [edge("a-mute", "a", "mute"), edge("mute-b", "mute", "b")],
    );
    const graph = buildGraph(rows, untimed);
    expect(ways(shortestPath(graph, "a", "mute"))).toEqual(["a-mute"]);
    expect(shortestPath(graph, "a", "b")).toBeUndefined();
  });
});

/** Trees five deep, each with an entry below the last node of the tree above and two nodes. */
function nested(): Rows {
  const trees: GraphTree[] = [root];
  const nodes = [node("home", { type: "entry" }), node("n0")];
  const edges = [edge("to-n0", "home", "n0", { action_sets: bothWays })];
  for (let depth = 1; depth <= 5; depth++) {
    const tree_id = `t${depth}`;
    trees.push({ id: tree_id, parent_node_id: `n${depth - 1}` });
    nodes.push(node(`in${depth}`, { tree_id, type: "entry" }), node(`n${depth}`, { tree_id }));
    edges.push(edge(`to-n${depth}`, `in${depth}`, `n${depth}`, { action_sets: bothWays }));
  }
  return { trees, nodes, edges };
}
describe("subtrees", () => {
  test("are entered and left through their entry, five deep", () => {
    const graph = buildGraph(nested(), untimed);
    const down = shortestPath(graph, "home", "n5");
    expect(ways(down)).toEqual([
      ...["to-n0", "enter", "to-n1", "enter", "to-n2", "enter"],
      ...["to-n3", "enter", "to-n4", "enter", "to-n5"],
    ]);
    expect(ways(shortestPath(graph, "n2", "home"))).toEqual(["to-n2", "exit", "to-n1", "exit", "to-n0"]);
  });

  test("cost nothing to enter", () => {
    const graph = buildGraph(nested(), untimed);
    expect(shortestPath(graph, "n0", "in1")).toMatchObject({ expected_ms: 0, confidence: 1 });
  });

  test("may be reached by an edge from the node they hang on", () => {
    const rows = rowsOf(
      [node("a"), node("inside", { tree_id: "sub" })],
      [edge("in", "a", "inside")],
      [root, { id: "sub", parent_node_id: "a" }],
    );
    expect(ways(shortestPath(buildGraph(rows, untimed), "a", "inside"))).toEqual(["in"]);
  });
});

test("every node that some way leads to is reachable, and no other", () => {
  const rows = nested();
  const graph = buildGraph({ ...rows, nodes: [...rows.nodes, node("island")] }, untimed);
  expect(new Set(costsFrom(graph, "in4").keys())).toEqual(new Set(rows.nodes.map(({ id }) => id)));
});

test("a subtree without its parent or its entry is closed", () => {
  for (const gone of ["n4", "in5"]) {
    const rows = nested();
    const graph = buildGraph({ ...rows, nodes: rows.nodes.filter(({ id }) => id !== gone) }, untimed);
    expect(shortestPath(graph, "home", "n5")).toBeUndefined();
    expect(stops(shortestPath(graph, "home", "n3"))?.at(-1)).toBe("n3");
  }
});
