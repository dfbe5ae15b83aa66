import type { Rect } from "../shapes.ts";
import type { FocusMap, Guess, Try } from "./focusMap.ts";
import {
  type Arrow,
  aheadOf,
  areSiblings,
  arrows,
  isAtEdge,
  isCut,
  isInLine,
  isTowards,
} from "./geometry.ts";
import type { Place, View } from "./view.ts";

/** A press, and the place that should have the focus after it; without one, the press is a try. */
export type PlannedPress = { arrow: Arrow; to?: string };
/** `isShown`: the latest snapshot has it; else an earlier one had. */
export type Goal = { id: string; isShown: boolean };

/** How often an arrow at a place did something else than planned in this walk. */
export type Surprises = (id: string, arrow: Arrow) => number;

/** `isSure`: the press was seen, never did anything else, and does what the rects of this snapshot say. */
type Edge = { from: string; arrow: Arrow; to: string; cost: number; isSure: boolean };
type Costs = Map<string, number>;

/** Of two ways that are as long, the one that was seen is taken. */
const guessCost = 1.05;
/** Where nothing lies in the row or column, many screens do not jump to what lies next to it. */
const jumpCost = 5;
const undoCost = 1.1;
/** What lay ahead of a place before, and does not now. */
const oldCost = 1;
/** What a press does may hang on more than the focus: a walk that was misled by one takes another way. */
const surpriseCost = 2;
const mostAtOnce = 10;
/** In presses that a search goes further for a likelier end: lists go on below more often than elsewhere. */
const searchCosts = { DOWN: 0, RIGHT: 6, UP: 12, LEFT: 14 } as const;
/** A list that is cut off goes on, but behind its beginning there is no more than that. */
const cutCosts = { DOWN: 0, RIGHT: 0, UP: 6, LEFT: 7 } as const;
/** What is wider than half the screen seldom has another one next to it. */
const wideCost = 20;
const awayCost = 2;
const siblingCost = 3;

/** The next presses to the goal, or in search of it. Empty when nothing is left to try. */
export function planPresses(
  map: FocusMap,
  view: View,
  { goal, surprises }: { goal: Goal | undefined; surprises: Surprises },
): readonly PlannedPress[] {
  const { focused } = view;
  if (focused === undefined) return [];
  const edges = edgesOf(map, view, surprises);
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

function edgesOf(map: FocusMap, view: View, surprises: Surprises): ReadonlyMap<string, readonly Edge[]> {
  const ids = new Set([...view.places.keys(), ...map.ids()]);
  const ends = endsOf([...view.places.values()]);
  return new Map(
    [...ids].map((id) => [
      id,
      arrows.flatMap((arrow) =>
        edgesBy(map, view.places.get(id), ends, { id, arrow }).map((edge) => ({
          ...edge,
          cost: edge.cost + surpriseCost * surprises(id, arrow),
        })),
      ),
    ]),
  );
}

/** Where an arrow was seen to lead; else what lies or lay ahead, and back where a press the other way came from. */
function edgesBy(
  map: FocusMap,
  place: Place | undefined,
  ends: readonly Place[],
  { id, arrow }: { id: string; arrow: Arrow },
): Edge[] {
  const known = map.outcome(id, arrow);
  if (known !== undefined) {
    const { to, changes } = known;
    if (to === id) return [];
    const isSure = changes === 0 && place !== undefined && to === aheadOf(place.rect, ends, arrow)?.id;
    return [{ from: id, arrow, to, cost: 1 + Math.min(changes, 3), isSure }];
  }
  const origin = map.origin(id, arrow);
  const undo = origin === undefined ? [] : [{ to: origin, cost: undoCost }];
  const ahead = place && aheadOf(place.rect, ends, arrow)?.id;
  const guesses = map.guesses(id, arrow).map(({ to, cost }) => {
    const isOld = place !== undefined && to !== ahead;
    return { to, cost: cost + (isOld ? oldCost : 0) };
  });
  return [...guesses, ...undo].map((guess) => ({ ...guess, from: id, arrow, isSure: false }));
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

/** Notes in the map what lies ahead of each place, and where a search may find more: also for later, when it is out of sight. */
export function noteEnds(map: FocusMap, view: View): void {
  const places = [...view.places.values()];
  for (const place of places)
    for (const arrow of arrows) {
      const cost = isOpen(map, place, places, arrow) ? costOfEnd(place.rect, places, arrow, view) : undefined;
      map.noteEnd(place.id, arrow, cost);
      const guess = guessOf(place, endsOf(places), arrow);
      if (guess) map.noteGuess(place.id, arrow, guess);
    }
}

function guessOf({ rect }: Place, ends: readonly Place[], arrow: Arrow): Guess | undefined {
  const ahead = aheadOf(rect, ends, arrow);
  return ahead && { to: ahead.id, cost: isInLine(rect, ahead.rect, arrow) ? guessCost : jumpCost };
}

/**
 * Presses that were not seen yet. A search tries ends of lists, also those out of sight; on the way to a target that geometry
 * should have reached, geometry is wrong, and everything on the screen is tried.
 */
function triesOf(map: FocusMap, view: View, target: Place | undefined): Try[] {
  if (target === undefined)
    return map.ends().filter(({ from, arrow }) => map.outcome(from, arrow) === undefined);
  const places = [...view.places.values()];
  return places.flatMap((place) =>
    arrows
      .filter((arrow) => map.outcome(place.id, arrow) === undefined)
      .map((arrow) => {
        const away = isTowards(place.rect, target.rect, arrow) ? 0 : awayCost;
        return {
          from: place.id,
          arrow,
          cost: away + (staysAtSiblings(map, place, places, arrow) ? siblingCost : 0),
        };
      }),
  );
}

/** Worth a search: what does nothing at a sibling does nothing here either, but rails scroll sideways each by itself. */
function isOpen(map: FocusMap, place: Place, places: readonly Place[], arrow: Arrow): boolean {
  if (map.outcome(place.id, arrow) !== undefined) return false;
  const isOwnRail = (arrow === "LEFT" || arrow === "RIGHT") && isCut(place.rect, endsOf(places), arrow);
  return isOwnRail || !staysAtSiblings(map, place, places, arrow);
}

/** The press was seen to do nothing at one that stands next to the place in its row or column. */
function staysAtSiblings(map: FocusMap, { rect }: Place, places: readonly Place[], arrow: Arrow): boolean {
  return places.some(
    (one) => map.outcome(one.id, arrow)?.to === one.id && areSiblings(rect, one.rect, arrow),
  );
}

/** Undefined where a search for what is out of sight has nothing to find. */
function costOfEnd(rect: Rect, places: readonly Place[], arrow: Arrow, { space }: View): number | undefined {
  if (!isAtEdge(rect, arrow, space) || aheadOf(rect, endsOf(places), arrow) !== undefined) return undefined;
  if (isCut(rect, endsOf(places), arrow)) return cutCosts[arrow];
  const isWide = rect.width > space.width / 2 && (arrow === "LEFT" || arrow === "RIGHT");
  return searchCosts[arrow] + (isWide ? wideCost : 0);
}

const endsOf = (places: readonly Place[]): Place[] => places.filter(({ isAround }) => !isAround);
