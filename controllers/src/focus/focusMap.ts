import type { Element } from "../contract.ts";
import { type Arrow, opposite } from "./geometry.ts";
import type { View } from "./view.ts";

/** What a press did when it was last seen; `to` is the place itself when nothing moved. */
export type Outcome = {
  to: string;
  /** How often the press did something else than the time before. */
  changes: number;
};

/** A press that was not seen yet; `cost` says in presses how much further a likelier one may be. */
export type Try = { from: string; arrow: Arrow; cost: number };

/** A place that a press may lead to; `cost` is in presses, and more for what is less likely. */
export type Guess = { to: string; cost: number };

const mostPlaces = 500;
const mostGuesses = 3;

export class FocusMap {
  readonly #outcomes = new Map<string, Map<Arrow, Outcome>>();
  /** Where a press the other way was seen to come from. */
  readonly #origins = new Map<string, Map<Arrow, string>>();
  readonly #elements = new Map<string, Element>();
  /** What lay ahead of a place in the snapshots that showed it, the latest first: a list keeps its order while it scrolls. */
  readonly #guesses = new Map<string, Map<Arrow, readonly Guess[]>>();
  /** What it costs a search to try an arrow where a list may go on. */
  readonly #ends = new Map<string, Map<Arrow, number>>();

  /** Remembers what a snapshot shows. Returns how many places are new. */
  see({ places }: View): number {
    if (this.#elements.size + places.size > mostPlaces) this.#forget();
    let added = 0;
    for (const { id, isTwin, element } of places.values()) {
      if (isTwin) continue;
      if (!this.#elements.has(id)) added += 1;
      this.#elements.set(id, element);
    }
    return added;
  }

  learn(from: string, arrow: Arrow, to: string): void {
    const before = this.outcome(from, arrow);
    const changes = before === undefined ? 0 : before.changes + (before.to === to ? 0 : 1);
    entryOf(this.#outcomes, from).set(arrow, { to, changes });
    if (from !== to) entryOf(this.#origins, to).set(opposite[arrow], from);
  }

  /** A line of presses did not end where it did before: each of them is looked after from now on. */
  doubt(from: string, arrow: Arrow): void {
    const known = this.outcome(from, arrow);
    if (known) known.changes += 1;
  }

  outcome(from: string, arrow: Arrow): Outcome | undefined {
    return this.#outcomes.get(from)?.get(arrow);
  }

  /** Where an arrow leads if it undoes the opposite press that was seen. */
  origin(from: string, arrow: Arrow): string | undefined {
    return this.#origins.get(from)?.get(arrow);
  }

  guesses(from: string, arrow: Arrow): readonly Guess[] {
    return this.#guesses.get(from)?.get(arrow) ?? [];
  }

  noteGuess(from: string, arrow: Arrow, guess: Guess): void {
    const others = this.guesses(from, arrow).filter(({ to }) => to !== guess.to);
    entryOf(this.#guesses, from).set(arrow, [guess, ...others].slice(0, mostGuesses));
  }

  noteEnd(from: string, arrow: Arrow, cost: number | undefined): void {
    if (cost !== undefined) entryOf(this.#ends, from).set(arrow, cost);
    else this.#ends.get(from)?.delete(arrow);
  }

  ends(): Try[] {
    return [...this.#ends].flatMap(([from, costs]) =>
      [...costs].map(([arrow, cost]) => ({ from, arrow, cost })),
    );
  }

  ids(): Iterable<string> {
    return new Set([...this.#outcomes.keys(), ...this.#origins.keys(), ...this.#guesses.keys()]);
  }

  /** The elements of earlier snapshots that a view does not show, by place. */
  remembered({ places }: View): ReadonlyMap<Element, string> {
    const gone = [...this.#elements].filter(([id]) => !places.has(id));
    return new Map(gone.map(([id, element]) => [element, id]));
  }

  names(): Set<string> {
    return new Set([...this.#elements.values()].map(({ name }) => name).filter((name) => name !== ""));
  }

  knowsPresses(): boolean {
    return this.#outcomes.size > 0;
  }

  /** A screen changes what its keys do: what they did is to be seen again. */
  forgetPresses(): void {
    for (const part of [this.#outcomes, this.#origins, this.#ends, this.#guesses]) part.clear();
  }

  #forget(): void {
    this.forgetPresses();
    this.#elements.clear();
  }
}

function entryOf<Value>(maps: Map<string, Map<Arrow, Value>>, id: string): Map<Arrow, Value> {
  const known = maps.get(id) ?? new Map<Arrow, Value>();
  maps.set(id, known);
  return known;
}
