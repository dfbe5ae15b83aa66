import type { Arcs } from "./arcs.ts";
import { Frontier } from "./frontier.ts";

const forward = new Frontier();
const backward = new Frontier();
const nothing: ReadonlySet<number> = new Set();

/**
 * Dijkstra from both ends at once, over typed arrays. Returns the arcs of the cheapest way in walking order, none for
 * `from` itself, undefined if there is no way. Synchronous, so the two frontiers are shared by all graphs.
 */
export function searchArcs(
  arcs: Arcs,
  from: number,
  to: number,
  excluded: ReadonlySet<number> = nothing,
): number[] | undefined {
  if (from === to) return [];
  forward.begin(arcs.nodeCount);
  backward.begin(arcs.nodeCount);
  forward.offer(from, 0, -1);
  backward.offer(to, 0, -1);
  const meeting: Meeting = { node: -1, cost: Number.POSITIVE_INFINITY };
  const outward = { first: arcs.firstOut, next: arcs.nextOut, end: arcs.to };
  const inward = { first: arcs.firstIn, next: arcs.nextIn, end: arcs.from };
  while (forward.size > 0 && backward.size > 0) {
    if (forward.lowest() + backward.lowest() >= meeting.cost) break;
    if (forward.size <= backward.size) expand(arcs, forward, backward, outward, excluded, meeting);
    else expand(arcs, backward, forward, inward, excluded, meeting);
  }
  return meeting.node < 0 ? undefined : wayThrough(arcs, meeting.node);
}

type Meeting = { node: number; cost: number };

/** Closes one node of `side` and offers what lies one arc further; notes where the two sides meet at the lowest cost. */
function expand(
  arcs: Arcs,
  side: Frontier,
  other: Frontier,
  lists: { first: Int32Array; next: Int32Array; end: Int32Array },
  excluded: ReadonlySet<number>,
  meeting: Meeting,
): void {
  const { first, next, end } = lists;
  const cap = arcs.cap();
  const base = side.lowest();
  const node = side.take();
  for (let arc = first[node] ?? -1; arc >= 0; arc = next[arc] ?? -1) {
    const cost = excluded.has(arc) ? Number.POSITIVE_INFINITY : base + arcs.costOf(arc, cap);
    const reached = end[arc] ?? 0;
    if (side.offer(reached, cost, arc)) noteMeeting(meeting, reached, cost + other.costOf(reached));
  }
}

function noteMeeting(meeting: Meeting, node: number, cost: number): void {
  if (cost >= meeting.cost) return;
  meeting.cost = cost;
  meeting.node = node;
}

function wayThrough(arcs: Arcs, meeting: number): number[] {
  const way: number[] = [];
  for (let arc = forward.viaOf(meeting); arc >= 0; arc = forward.viaOf(arcs.from[arc] ?? 0)) way.push(arc);
  way.reverse();
  for (let arc = backward.viaOf(meeting); arc >= 0; arc = backward.viaOf(arcs.to[arc] ?? 0)) way.push(arc);
  return way;
}
