import type { Dump, Element, ElementSource, Rect } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { ambiguous, notFound } from "../elements/failures.ts";
import { nearest } from "../elements/nearest.ts";
import { findNodes, nodeKinds, nodeSelectors } from "../elements/nodes.ts";
import { pageWeights, Ranking } from "../elements/ranking.ts";
import { Refs } from "../elements/refs.ts";
import { SelectorGrammar, wantedText } from "../elements/selectors.ts";
import { onlyTarget, type Target } from "../elements/target.ts";
import type { DeviceError } from "../errors.ts";
import type { FocusSource } from "../ports.ts";
import { pause } from "../waiting/deadlines.ts";
import { noDarkTouch, noticesOf } from "./dialogs.ts";
import { type Screen, type Seen, toScreen } from "./screen.ts";
import type { TreeSource } from "./tree.ts";

/** A resource id is what the app's makers call a thing, whatever the language. */
const byId = new Ranking({ ...pageWeights, kinds: { ...pageWeights.kinds, id: 0.95 } });
const grammar = new SelectorGrammar(nodeKinds);
/** A snapshot stays valid this long if nothing was sent. A screen also changes by itself. */
const freshMs = 500;
const lookEveryMs = 150;

/** Reads the screen of a device as elements, and finds those that a caller means. */
export class ScreenReader {
  readonly #refs = new Refs();
  readonly #source: TreeSource;
  #latest: { screen: Screen; at: number } | undefined;
  /** What the elements that looks gave were made of. */
  readonly #seenOf = new WeakMap<Element, Seen>();
  /** Counts inputs: a snapshot taken during an input shows neither the state before nor after it. */
  #inputs = 0;
  /** A pending answer to the next dialog; returns true once it has answered. */
  #onLook: ((screen: Screen, signal: AbortSignal) => Promise<boolean>) | undefined;

  constructor(source: TreeSource) {
    this.#source = source;
  }

  readonly elements: ElementSource = {
    dump: async ({ interactiveOnly }, signal) => this.#dump(await this.look(signal), interactiveOnly),
    selectors: async (refs, signal) => {
      const { seen } = await this.recent(signal);
      return refs.map((ref) => {
        const one = seen.find(({ key }) => this.#refs.of(key) === ref);
        return one ? nodeSelectors(one, seen, byId) : [];
      });
    },
  };

  readonly focus: FocusSource = {
    focus: async (signal) => {
      const screen = await this.look(signal);
      const candidates = screen.seen
        .filter(({ node }) => node.focusable || node.focused)
        .map((seen) => this.#element(seen));
      this.#refs.look(screen.seen.map((seen) => this.#element(seen)));
      const focused = candidates.find(({ states }) => states.includes("focused"));
      return { ...(focused && { focused }), candidates, space: screen.space };
    },
  };

  /** Sends an input. Whatever comes of it, the cached look is outdated. */
  async send<T>(input: () => Promise<T>): Promise<T> {
    try {
      return await sendInput(input);
    } finally {
      this.driven();
    }
  }

  /** An input was sent: the cached look is outdated. */
  driven(): void {
    this.#inputs += 1;
    this.#latest = undefined;
    this.#source.driven?.();
  }

  /** Passes each next snapshot to the function first, until it returns true; then the screen is read again. */
  beforeOthers(onLook: (screen: Screen, signal: AbortSignal) => Promise<boolean>): void {
    this.#onLook = onLook;
  }

  /** Another client drives: drops the pending answer. */
  forget(): void {
    this.#onLook = undefined;
    this.driven();
  }

  async look(signal: AbortSignal): Promise<Screen> {
    const inputs = this.#inputs;
    const screen = toScreen(await this.#source.read(signal));
    if (inputs === this.#inputs) this.#latest = { screen, at: performance.now() };
    return (await this.#passFirst(screen, signal)) ? this.look(signal) : screen;
  }

  /** True if it changed the screen. Parallel looks do not call it twice. */
  async #passFirst(screen: Screen, signal: AbortSignal): Promise<boolean> {
    const onLook = this.#onLook;
    this.#onLook = undefined;
    if (onLook === undefined) return false;
    const hasActed = await onLook(screen, signal);
    if (!hasActed) this.#onLook ??= onLook;
    return hasActed;
  }

  /** The latest snapshot, if nothing was sent since and it is not older than `ms`; else another one. */
  async recent(signal: AbortSignal, ms = freshMs): Promise<Screen> {
    const latest = this.#latest;
    const isFresh = latest !== undefined && performance.now() - latest.at < ms;
    if (isFresh && !this.#source.isOutdated?.()) return latest.screen;
    return this.look(signal);
  }

  /** What a target means on a screen, in reading order. Throws INVALID_PARAMS, INVALID_SELECTOR. */
  async find(target: Target, { seen }: Screen): Promise<readonly Seen[]> {
    const wanted = onlyTarget(target);
    if ("selector" in wanted) return findNodes(seen, grammar.parse(wanted.selector));
    return seen.filter(({ key }) => this.#refs.of(key) === wanted.ref);
  }

  /**
   * What finds a target among elements that `focus` gave, also long ago: a ref is that of its element however often a list has
   * scrolled since. Throws INVALID_PARAMS, INVALID_SELECTOR, ELEMENT_NOT_FOUND, STALE_REF.
   */
  finder(target: Target): (elements: readonly Element[]) => Promise<Element[]> {
    const wanted = onlyTarget(target);
    const seenIn = (elements: readonly Element[]) =>
      elements.flatMap((element) => {
        const seen = this.#seenOf.get(element);
        return seen ? [{ ...seen, given: element }] : [];
      });
    if ("selector" in wanted) {
      const parsed = grammar.parse(wanted.selector);
      return async (elements) => (await findNodes(seenIn(elements), parsed)).map(({ given }) => given);
    }
    const named = this.#refs.recall(wanted.ref);
    const key = named && this.#seenOf.get(named)?.key;
    if (key === undefined) throw this.gone(wanted.ref);
    return async (elements) => seenIn(elements).flatMap((seen) => (seen.key === key ? [seen.given] : []));
  }

  /** What an element was made of that `focus` gave. */
  seen(element: Element): Seen {
    const seen = this.#seenOf.get(element);
    if (seen === undefined) throw new Error("The element is none of this reader's.");
    return seen;
  }

  gone(ref: string): DeviceError {
    return this.#refs.gone(ref, []);
  }

  /** `e12 button "Save"`, as far as it is known. */
  words(ref: string): string {
    return this.#refs.describe(ref);
  }

  /** Waits up to `timeoutMs` for a selector. Throws ELEMENT_NOT_FOUND, ELEMENT_AMBIGUOUS, STALE_REF; DEVICE_ERROR at once where the screen is off. */
  async one(
    target: Target,
    signal: AbortSignal,
    timeoutMs: number,
    searched?: string,
  ): Promise<{ seen: Seen; screen: Screen }> {
    const wanted = onlyTarget(target);
    const until = performance.now() + timeoutMs;
    for (let screen = await this.recent(signal); ; screen = await this.look(signal)) {
      if (screen.tree.isDark) throw noDarkTouch();
      const [seen, ...others] = await this.find(target, screen);
      if (seen !== undefined && others.length === 0) return { seen, screen };
      if ("ref" in wanted) throw this.#refs.gone(wanted.ref, this.nearest(target, screen));
      if (seen !== undefined)
        throw ambiguous(wanted.selector, others.length + 1, this.#candidates([seen, ...others], screen));
      if (performance.now() >= until)
        throw notFound(grammar.parse(wanted.selector), wanted.selector, {
          afterMs: timeoutMs,
          searched,
          texts: screen.texts,
          nearest: this.nearest(target, screen),
          notices: noticesOf(screen.tree),
        });
      await pause(lookEveryMs, signal);
    }
  }

  async rectOf(ref: string, signal: AbortSignal): Promise<Rect> {
    return (await this.one({ ref }, signal, 0)).seen.element.rect;
  }

  /** The names on a screen that are most like a target; a name is a selector, too. */
  nearest({ ref, selector }: Target, { seen }: Screen): string[] {
    const recalled = ref === undefined ? undefined : this.#refs.recall(ref)?.name;
    const wanted = selector === undefined ? (recalled ?? "") : wantedText(grammar.parse(selector));
    const names = seen.map(({ name }) => name).filter((name) => name !== "");
    return nearest(wanted, new Set(names));
  }

  describe({ role, name }: Seen): string {
    return `${role} ${JSON.stringify(name)}`;
  }

  /** `e12 button "Delete" by "Bach"`: the text before it where that is no other candidate. */
  #candidates(found: readonly Seen[], { seen }: Screen): string[] {
    this.#refs.look(seen.map((one) => this.#element(one)));
    return found.slice(0, 6).map((one) => {
      const before = seen
        .slice(0, seen.indexOf(one))
        .findLast(({ name }) => name !== "" && name !== one.name);
      const sign = before ? ` by ${JSON.stringify(before.name.slice(0, 40))}` : "";
      return `${this.#refs.of(one.key)} ${this.describe(one)}${sign}`;
    });
  }

  #dump({ seen, tree, space, texts }: Screen, interactiveOnly: boolean): Dump {
    const all = seen.map((one) => this.#element(one));
    const generation = this.#refs.look(all);
    return {
      generation,
      location: tree.location ?? "",
      title: tree.title ?? seen.find(({ role }) => role === "text")?.name ?? texts[0] ?? "",
      space,
      elements: interactiveOnly ? all.filter(({ interactive }) => interactive) : all,
      others: interactiveOnly ? all.filter(({ interactive }) => !interactive) : [],
      notices: noticesOf(tree),
    };
  }

  #element(seen: Seen): Element {
    const element = { ref: this.#refs.of(seen.key), ...seen.element };
    this.#seenOf.set(element, seen);
    return element;
  }
}
