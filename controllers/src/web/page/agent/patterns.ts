/**
 * Patterns are compared outside of the page, since nothing ends a slow one in every browser's pages: the page gives the texts that a
 * query compares, and then gets the places of those that match.
 */

import { native } from "./tree/native.ts";

/** A pattern whose texts have the number `token`; `hits` are the places of those that match in the answer of {@link textsOf}. */
export type TriedPattern = { match: "tried"; token: number; hits?: readonly number[] };

type Texts = { places: Map<string, number>; elements: Map<Element, number[]> };
/** `elements`: those of which a text matched, in the order of the search. `all`: those of which all texts matched. */
type Hits = { texts: ReadonlySet<string>; elements: readonly WeakRef<Element>[]; all: WeakSet<Element> };

const MOST_KEPT = 30;
const gathered = new Map<number, Texts>();
const matching = new Map<number, Hits>();

/** The different texts that a search for a pattern without hits compares. */
export function textsOf(token: number, search: () => unknown): string[] {
  const { places } = keep(gathered, token, { places: new Map(), elements: new Map() });
  search();
  return [...places.keys()];
}

/** Where a search for the pattern looks; undefined for everywhere, since an element that matched has been drawn anew. */
export function candidates({ token, hits }: TriedPattern): readonly Element[] | undefined {
  if (hits === undefined) return undefined;
  const elements = hitsOf(token, hits)?.elements ?? [];
  const there = elements.flatMap((one) => one.deref() ?? []).filter((one) => native.isConnected(one));
  return there.length === elements.length ? there : undefined;
}

/**
 * Whether the text matches. A text that has changed since is not compared again: its element stays a match, so that a clock can be
 * clicked.
 */
export function holds(wanted: TriedPattern, element: Element, text: string): boolean {
  if (wanted.hits === undefined) return gather(wanted.token, element, text);
  const hits = hitsOf(wanted.token, wanted.hits);
  return hits !== undefined && (hits.texts.has(text) || hits.all.has(element));
}

function gather(token: number, element: Element, text: string): false {
  const found = gathered.get(token);
  if (!found) return false;
  const place = found.places.get(text) ?? found.places.size;
  found.places.set(text, place);
  found.elements.set(element, [...(found.elements.get(element) ?? []), place]);
  return false;
}

function hitsOf(token: number, places: readonly number[]): Hits | undefined {
  const found = gathered.get(token);
  const known = found ? pick(found, new Set(places)) : matching.get(token);
  gathered.delete(token);
  return known && keep(matching, token, known);
}

function pick({ places, elements }: Texts, hits: ReadonlySet<number>): Hits {
  const isHit = (place: number) => hits.has(place);
  const some = [...elements].filter(([, places]) => places.some(isHit));
  const all = some.filter(([, places]) => places.every(isHit));
  return {
    texts: new Set([...places].filter(([, place]) => isHit(place)).map(([text]) => text)),
    elements: some.map(([element]) => new WeakRef(element)),
    all: new WeakSet(all.map(([element]) => element)),
  };
}

/** Forgets what was not used for longest. */
function keep<T>(all: Map<number, T>, token: number, one: T): T {
  all.delete(token);
  all.set(token, one);
  const [oldest] = all.keys();
  if (oldest !== undefined && all.size > MOST_KEPT) all.delete(oldest);
  return one;
}
