import type { FocusMap } from "./focusMap.ts";
import { type Arrow, aheadOf, areSiblings, arrows, isAtEdge, isCut, isTowards } from "./geometry.ts";
import type { Place, View } from "./view.ts";

/** A press, and the place that should have the focus after it; without one, the press is a try. */
export type PlannedPress = { arrow: Arrow; to?: string };
/** `isShown`: the latest look has it; else an earlier one had. */
export type Goal = { id: string; isShown: boolean };

type Edge = { from: string; arrow: Arrow; to: string; cost: number; isSure: boolean };
type Try = { from: string; arrow: Arrow; cost: number };
type Costs = Map<string, number>;

/** Of two ways that are as long, the one that was seen is taken. */
const guessCost = 1.05;
const undoCost = 1.1;
const mostAtOnce = 10;
/** Lists go on below more often than elsewhere. */
const searchCosts = { DOWN: 0, RIGHT: 2, UP: 3, LEFT: 5 } as const;
const awayCost = 2;

/**
 * The next presses from what has the focus: on the shortest known or expected way to the goal, else to the next try. Without a
 * goal, it searches. Empty when nothing is left to try.
 */
export function planPresses(map: FocusMap, view: View, goal: Goal | undefined): readonly PlannedPress[] {
  const { focused } = view;
  if (focused === undefined) return [];
  const edges = edgesOf(map, view);
  const way =
    goal === undefined ? [] : follow(focused.id, edges, costsTo(edges, new Map([[goal.id, 0]])), view);
  if (way.length > 0) return way;
  const tries = triesOf(map, view, goal?.isShown ? view.places.get(goal.id) : undefined);
  const seeds: Costs = new Map();
  for (const { from, cost } of tries) seeds.set(from, Math.min(cost, seeds.get(from) ?? Infinity));
  const costs = costsTo(edges, seeds);
  const here = tries.filter(({ from }) => from === focused.id).toSorted((a, b) => a.cost - b.cost)[0];
  if (here !== undefined && here.cost <= (costs.get(focused.id) ?? Infinity)) return [{ arrow: here.arrow }];
  return follow(focused.id, edges, costs, view);
}

/** What each arrow does or should do, by place. */
function edgesOf(map: FocusMap, view: View): ReadonlyMap<string, readonly Edge[]> {
  const ids = new Set([...view.places.keys(), ...map.ids()]);
  const ends = [...view.places.values()].filter(({ isAround }) => !isAround);
  return new Map(
    [...ids].map((id) => [
      id,
      arrows.flatMap((arrow) => edgeOf(map, view.places.get(id), ends, { id, arrow }) ?? []),
    ]),
  );
}

function edgeOf(
  map: FocusMap,
  place: Place | undefined,
  ends: readonly Place[],
  { id, arrow }: { id: string; arrow: Arrow },
): Edge | undefined {
  const known = map.outcome(id, arrow);
  if (known !== undefined) {
    const { to, changes } = known;
    if (to === id) return undefined;
    return { from: id, arrow, to, cost: 1 + Math.min(changes, 3), isSure: changes === 0 };
  }
  const to = place && aheadOf(place.rect, ends, arrow)?.id;
  if (to !== undefined) return { from: id, arrow, to, cost: guessCost, isSure: false };
  const origin = map.origin(id, arrow);
  return origin === undefined ? undefined : { from: id, arrow, to: origin, cost: undoCost, isSure: false };
}

/** The least cost from each place to a place of `seeds`, and on from there. */
function costsTo(edges: ReadonlyMap<string, readonly Edge[]>, seeds: Costs): Costs {
  const into = new Map<string, Edge[]>();
  for (const edge of [...edges.values()].flat()) into.set(edge.to, [...(into.get(edge.to) ?? []), edge]);
  const costs = new Map(seeds);
  const queue = [...seeds.keys()];
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    for (const { from, cost } of into.get(id) ?? []) {
      const whole = cost + (costs.get(id) ?? Infinity);
      if (whole >= (costs.get(from) ?? Infinity)) continue;
      costs.set(from, whole);
      queue.push(from);
    }
  }
  return costs;
}

/** The next press, and those behind it in the same line that are sure. */
function follow(
  start: string,
  edges: ReadonlyMap<string, readonly Edge[]>,
  costs: Costs,
  { places }: View,
): PlannedPress[] {
  const presses: PlannedPress[] = [];
  for (let edge = cheapest(start, edges, costs); edge !== undefined; edge = cheapest(edge.to, edges, costs)) {
    const isLine = presses.length === 0 || (edge.isSure && edge.arrow === presses[0]?.arrow);
    if (!isLine || presses.length === mostAtOnce) break;
    presses.push({ arrow: edge.arrow, to: edge.to });
    if (!edge.isSure || !places.has(edge.to)) break;
  }
  return presses;
}

/** The edge of the cheapest way on; undefined where that way ends. */
function cheapest(id: string, edges: ReadonlyMap<string, readonly Edge[]>, costs: Costs): Edge | undefined {
  let best: { edge: Edge; whole: number } | undefined;
  for (const edge of edges.get(id) ?? []) {
    const whole = edge.cost + (costs.get(edge.to) ?? Infinity);
    if (whole < (best?.whole ?? Infinity)) best = { edge, whole };
  }
  // A place that is cheaper than any way on is an end of the way.
  return best !== undefined && best.whole <= (costs.get(id) ?? Infinity) ? best.edge : undefined;
}

/** Presses that nobody has seen and geometry expects nothing of, at places on the screen. */
function triesOf(map: FocusMap, view: View, target: Place | undefined): Try[] {
  const places = [...view.places.values()];
  const ends = places.filter(({ isAround }) => !isAround);
  const untried = ({ id, rect }: Place, arrow: Arrow) =>
    map.outcome(id, arrow) === undefined && aheadOf(rect, ends, arrow) === undefined;
  const stays = ({ id }: Place, arrow: Arrow) => map.outcome(id, arrow)?.to === id;
  return places.flatMap((place) =>
    arrows.flatMap((arrow) => {
      if (!untried(place, arrow)) return [];
      const isCutOff = isCut(place.rect, ends, arrow);
      const isLikeOthers = places.some(
        (one) => stays(one, arrow) && areSiblings(place.rect, one.rect, arrow),
      );
      if (isLikeOthers && !isCutOff) return [];
      if (target)
        return [{ from: place.id, arrow, cost: isTowards(place.rect, target.rect, arrow) ? 0 : awayCost }];
      if (!isAtEdge(place.rect, arrow, view.space)) return [];
      return [{ from: place.id, arrow, cost: isCutOff ? 0 : searchCosts[arrow] }];
    }),
  );
}
