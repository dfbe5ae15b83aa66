import { Graph, layout } from "@dagrejs/dagre";
import { type MapEdge, type MapNode, nameOf, type Outline, seenIn } from "./outline.ts";

export type Point = { x: number; y: number };
/** `x` and `y` are the middle, in pixels of the drawing. */
export type DrawnNode = Point & { node: MapNode; width: number; height: number };
export type DrawnEdge = Point & { edge: MapEdge; name: string; path: string };
export type Drawing = {
  nodes: ReadonlyMap<string, DrawnNode>;
  edges: readonly DrawnEdge[];
  width: number;
  height: number;
};

const width = 168;
const labelHeight = 44;
export const pictureHeight = 92;

/** Where the unfolded places and the edges between them are drawn: from left to right, as they are reached. */
export function draw(outline: Outline, open: ReadonlySet<string>): Drawing {
  const graph = new Graph({ multigraph: true });
  const seen = seenIn(outline, (id) => open.has(id));
  graph.setGraph({ rankdir: "LR", nodesep: 28, edgesep: 16, ranksep: 32, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [id, node] of outline.nodes) {
    const height = labelHeight + (node.picture === undefined ? 0 : pictureHeight);
    if (seen.has(id)) graph.setNode(id, { width, height });
  }
  const edges = outline.edges.filter(({ source, target }) => seen.has(source) && seen.has(target));
  for (const { id, source, target } of edges)
    graph.setEdge(source, target, { width: 100, height: 20, labelpos: "c" }, id);
  layout(graph);
  const nodes = [...outline.nodes].flatMap(([id, node]) => {
    if (!seen.has(id)) return [];
    const { x, y, height } = graph.node(id);
    return [[id, { node, x, y, width, height }] as const];
  });
  const drawn = edges.map((edge) => {
    const { points, x, y } = graph.edge(edge.source, edge.target, edge.id);
    return { edge, name: nameOf(outline, edge), x, y, path: pathOf(points) };
  });
  const { width: whole, height } = graph.graph();
  return { nodes: new Map(nodes), edges: drawn, width: whole ?? 0, height: height ?? 0 };
}

/** A smooth line: through the middles between its points. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
  if (!first) return "";
  const curves = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? point;
    const end = at === rest.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${curves.join("")}`;
}
