import type { AppMap, Reliability } from "../../domain/appMap.ts";
import { duration } from "../../views/format.ts";

export type MapNode = AppMap["nodes"][number];
export type MapEdge = AppMap["edges"][number];

/** Places in the order in which they are reached, each `below` the one that leads to it first, so that all below a place folds. */
export type Outline = {
  nodes: ReadonlyMap<string, MapNode>;
  edges: readonly MapEdge[];
  roots: readonly string[];
  below: ReadonlyMap<string, readonly string[]>;
};

/** What the map and the list show alike. `chosen` is the id of a place or of a way. */
export type AppViewProps = {
  outline: Outline;
  open: ReadonlySet<string>;
  chosen: string | undefined;
  choose(id: string): void;
  /** Folds or unfolds a place. */
  fold(id: string): void;
};

/** The entry of a subtree is the place that the subtree hangs on, so it is not among the nodes. */
export function outlineOf({ trees, nodes, edges }: Pick<AppMap, "trees" | "nodes" | "edges">): Outline {
  const hangsOn = new Map(trees.map(({ id, below }) => [id, below]));
  const entries = new Map(nodes.map(({ id, type, tree }) => [id, type === "entry" && hangsOn.get(tree)]));
  const placeOf = (id: string): string => entries.get(id) || id;
  const places = new Map(nodes.filter(({ id }) => placeOf(id) === id).map((node) => [node.id, node]));
  const ways = edges
    .map((edge) => ({ ...edge, source: placeOf(edge.source), target: placeOf(edge.target) }))
    .filter(({ source, target }) => places.has(source) && places.has(target));
  const targets = new Set(ways.map(({ target }) => target));
  const lateness = ({ id, type }: MapNode) => (type === "entry" ? 0 : targets.has(id) ? 2 : 1);
  const seen = new Set<string>();
  const roots: string[] = [];
  const below = new Map<string, string[]>();
  for (const { id } of [...places.values()].sort((a, b) => lateness(a) - lateness(b))) {
    if (seen.has(id)) continue;
    roots.push(id);
    seen.add(id);
    for (const from of seen) {
      if (below.has(from)) continue;
      const next = ways.filter(({ source, target }) => source === from && !seen.has(target));
      below.set(from, [...new Set(next.map(({ target }) => target))]);
      for (const { target } of next) seen.add(target);
    }
  }
  const inOrder = [...seen].flatMap((id) => places.get(id) ?? []);
  return { nodes: new Map(inOrder.map((node) => [node.id, node])), edges: ways, roots, below };
}

/** Such as `Home → Cart`. */
export const nameOf = ({ nodes }: Outline, { source, target }: MapEdge): string =>
  `${nodes.get(source)?.label} → ${nodes.get(target)?.label}`;

/** Places that are seen, given which are unfolded. */
export function seenIn(
  { roots, below }: Pick<Outline, "roots" | "below">,
  isOpen: (id: string) => boolean,
): Set<string> {
  const seen = new Set(roots);
  for (const id of seen) if (isOpen(id)) for (const child of below.get(id) ?? []) seen.add(child);
  return seen;
}

/** How many places a folded one hides. */
export const countBelow = ({ below }: Outline, id: string): number =>
  seenIn({ roots: [id], below }, () => true).size - 1;

/** Unfolds from the start on, as long as at most `limit` places are seen. */
export function firstOpen({ roots, below }: Outline, limit = 60): Set<string> {
  const open = new Set<string>();
  let count = roots.length;
  seenIn({ roots, below }, (id) => {
    const more = below.get(id)?.length ?? 0;
    if (more === 0 || count + more > limit) return false;
    count += more;
    open.add(id);
    return true;
  });
  return open;
}

const percent = (part: number) => `${Math.round(part * 100)}%`;

/**
 * The weakest of an edge's directions, such as `97% · 1.2 s`: how often it worked, and how long it takes, until its KPI is seen where it
 * has one.
 */
export function rateOf({ reliability }: Pick<MapEdge, "reliability">): { text: string; tone: string } {
  const [worst] = [...reliability].sort((a, b) => a.success_rate - b.success_rate);
  if (!worst) return { text: "never ran", tone: "unknown" };
  const { success_rate: rate, kpi_median_ms, median_ms } = worst;
  return {
    text: `${percent(rate)} · ${duration(kpi_median_ms ?? median_ms)}`,
    tone: rate >= 0.95 ? "good" : rate >= 0.8 ? "warn" : "bad",
  };
}

/** In whole words, with how sure it is. */
export function inWords({ runs, success_rate, low, high, median_ms, kpi_median_ms }: Reliability): string {
  const worked = `Worked ${Math.round(success_rate * runs)} of ${runs} times`;
  const kpi = kpi_median_ms === undefined ? "" : `, KPI ${duration(kpi_median_ms)}`;
  return `${worked} (likely ${percent(low)} to ${percent(high)}), in ${duration(median_ms)}${kpi}.`;
}
