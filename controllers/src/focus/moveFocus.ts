import { setTimeout as delay } from "node:timers/promises";
import type { Element } from "../contract.ts";
import { orNearest } from "../elements/failures.ts";
import { nearest } from "../elements/nearest.ts";
import { DeviceError } from "../errors.ts";
import type { FocusSource } from "../ports.ts";
import type { FocusMap } from "./focusMap.ts";
import { type Arrow, arrows, opposite, rowsAndColumns } from "./geometry.ts";
import { type Goal, noteEnds, type PlannedPress, planPresses } from "./plan.ts";
import { hasMoved, type Place, type View, viewOf } from "./view.ts";

export type FocusRemote = {
  focus: FocusSource;
  /** Presses keys in order; resolves when the device has taken them. */
  press(keys: readonly Arrow[], signal: AbortSignal): Promise<void>;
  /** The target among elements of one snapshot, or of earlier snapshots of this screen. It may throw, as for one that is ambiguous. */
  find(candidates: readonly Element[]): Element | undefined | Promise<Element | undefined>;
};

export type MoveOptions = {
  /** What presses did on this screen before; the walk adds to it. */
  map: FocusMap;
  wanted: string;
  /** How long the target or a focus may take to appear. */
  timeoutMs: number;
  /** The error for a target that can only be where looks have shown it, as one named by a ref: it is not searched. */
  gone?: () => DeviceError;
  /** 4 for each row and column that was seen, at most 60, unless said. */
  mostPresses?: number;
};

/** `looks` counts those at the screen, the first one included. */
export type FocusMove = { target: Element; presses: number; looks: number };

const longestWalk = 60;
const lookEveryMs = 150;
/** A target that is not there may be about to appear: the search begins after so long. */
const patienceMs = 1_000;
const leastSearchMs = 30_000;
/** Between two screens, nothing has the focus for a moment. */
const leastBlindLooks = 4;
/** Of a surprise, how much each press of an arrow at the same place counts. */
const repeatedShare = 0.5;

/**
 * Moves the focus to a target. Throws FOCUS_TRAPPED when no key leads out of the places that were reached,
 * ELEMENT_NOT_FOUND for a target that no look showed, ELEMENT_NOT_ACTIONABLE when nothing has the focus or the presses are
 * used up, and what `remote` throws.
 */
export function moveFocus(
  remote: FocusRemote,
  options: MoveOptions,
  signal: AbortSignal,
): Promise<FocusMove> {
  return new Walk(remote, options, signal).run();
}

class Walk {
  #presses = 0;
  #looks = 0;
  /** Looks that showed something new after a press: rows and columns that scrolled in. */
  #scrolls = 0;
  #size = 0;
  /** DOWN was pressed for a focus, and none has shown since. */
  #hasWoken = false;
  /** After this press, nothing that is shown had the focus. */
  #lostBy: { arrow: Arrow; from: string } | undefined;
  /** Looks in a row that showed no focus. */
  #blindLooks = 0;
  readonly #tried = new Set<Arrow>();
  readonly #visited = new Set<string>();
  readonly #surprises = new Map<string, number>();
  /** How often an arrow was pressed at a place: who goes to and fro takes another way in the end. */
  readonly #pressed = new Map<string, number>();
  readonly #began = performance.now();
  /** The map has presses of earlier walks, and none of them is doubted yet. */
  #knewWays: boolean;

  constructor(
    private readonly remote: FocusRemote,
    private readonly options: MoveOptions,
    private readonly signal: AbortSignal,
  ) {
    this.#knewWays = options.map.knowsPresses();
  }

  async run(): Promise<FocusMove> {
    let view = await this.#look();
    for (;;) {
      const goal = await this.#goalIn(view);
      const { focused } = view;
      if (goal !== undefined && focused?.id === goal.id)
        return { target: focused.element, presses: this.#presses, looks: this.#looks };
      view =
        this.#isEarly(view, goal) || (focused === undefined && (this.#hasWoken || this.#isMoment()))
          ? await this.#lookAgain(view, goal)
          : await this.#go(view, goal);
    }
  }

  async #go(view: View, goal: Goal | undefined): Promise<View> {
    if (view.focused === undefined) return this.#wake();
    if (goal === undefined && this.options.gone) throw this.options.gone();
    if (goal === undefined && this.#isOver(Math.max(this.options.timeoutMs, leastSearchMs)))
      throw this.#notFound();
    const surprises = (id: string, arrow: Arrow) =>
      (this.#surprises.get(`${arrow} ${id}`) ?? 0) +
      repeatedShare * (this.#pressed.get(`${arrow} ${id}`) ?? 0);
    const plan = planPresses(this.options.map, view, { goal, surprises });
    if (plan.length === 0 && this.#knewWays) return this.#beginAnew(view);
    if (plan.length === 0) return this.#lookAgain(view, goal);
    const left = this.#most() - this.#presses;
    if (left <= 0) throw this.#tooFar(view.focused, goal);
    return this.#follow(plan.slice(0, left), view, view.focused);
  }

  /** By what earlier walks saw nothing leads on, and the screen may have changed what its keys do. */
  #beginAnew(view: View): View {
    const { map } = this.options;
    this.#knewWays = false;
    map.forgetPresses();
    noteEnds(map, view);
    return view;
  }

  async #goalIn(view: View): Promise<Goal | undefined> {
    const shown = await this.remote.find([...view.places.values()].map(({ element }) => element));
    if (shown !== undefined) {
      const place = [...view.places.values()].find(({ element }) => element === shown);
      return place && { id: place.id, isShown: true };
    }
    const remembered = this.options.map.remembered(view);
    const gone = await this.remote.find([...remembered.keys()]);
    const id = gone && remembered.get(gone);
    return id === undefined ? undefined : { id, isShown: false };
  }

  #isEarly(view: View, goal: Goal | undefined): boolean {
    if (goal !== undefined && view.focused !== undefined) return false;
    return this.#presses === 0 && !this.#isOver(Math.min(this.options.timeoutMs, patienceMs));
  }

  /** A focus that was there may come back by itself. */
  #isMoment(): boolean {
    return this.#presses > 0 && this.#blindLooks < leastBlindLooks;
  }

  /** Nothing can be pressed to any use: waits for the screen to change, and gives up in the end. */
  async #lookAgain(view: View, goal: Goal | undefined): Promise<View> {
    const isHopeless = goal?.isShown === true && view.focused !== undefined;
    const isPassing = this.#blindLooks > 0 && this.#blindLooks < leastBlindLooks;
    if (isHopeless || (this.#isOver(this.options.timeoutMs) && !isPassing)) throw this.#stuck(view, goal);
    await delay(lookEveryMs, undefined, { signal: this.signal });
    return this.#look();
  }

  /** Nothing has the focus: the way back from where it was lost; on most screens, the first press of an arrow gives it to something. */
  async #wake(): Promise<View> {
    this.#hasWoken = true;
    const lost = this.#lostBy;
    this.#lostBy = undefined;
    if (lost) this.#surprise(`${lost.arrow} ${lost.from}`);
    await this.#press([lost ? opposite[lost.arrow] : "DOWN"]);
    return this.#look();
  }

  async #follow(plan: readonly PlannedPress[], before: View, from: Place): Promise<View> {
    this.#visited.add(from.id);
    this.#countPress(`${plan[0]?.arrow} ${from.id}`);
    await this.#press(plan.map(({ arrow }) => arrow));
    const expected = plan.at(-1)?.to;
    let after = await this.#look();
    // A focus may arrive late: what speaks against the plan is looked at twice.
    if (expected !== undefined && after.focused?.id === from.id) after = await this.#look();
    if (after.focused !== undefined) this.#learn(plan, from.id, after.focused.id, hasMoved(before, after));
    else this.#lostBy = plan[0] && { arrow: plan[0].arrow, from: from.id };
    return after;
  }

  #learn(plan: readonly PlannedPress[], from: string, to: string, hasScrolled: boolean): void {
    const { map } = this.options;
    const [only] = plan;
    if (to !== plan.at(-1)?.to) this.#surprise(`${only?.arrow} ${from}`);
    if (only !== undefined && plan.length === 1) {
      // A screen that scrolled under the same focus may do so again.
      if (from !== to || !hasScrolled) map.learn(from, only.arrow, to);
      return;
    }
    let at = from;
    for (const { arrow, to: next = at } of plan) {
      if (to !== plan.at(-1)?.to) map.doubt(at, arrow);
      at = next;
    }
  }

  #countPress(press: string): void {
    this.#pressed.set(press, (this.#pressed.get(press) ?? 0) + 1);
  }

  #surprise(press: string): void {
    this.#surprises.set(press, (this.#surprises.get(press) ?? 0) + 1);
  }

  async #press(keys: readonly Arrow[]): Promise<void> {
    for (const key of keys) this.#tried.add(key);
    this.#presses += keys.length;
    await this.remote.press(keys, this.signal);
  }

  async #look(): Promise<View> {
    const view = viewOf(await this.remote.focus.focus(this.signal));
    this.#looks += 1;
    this.#blindLooks = view.focused === undefined ? this.#blindLooks + 1 : 0;
    if (view.focused !== undefined) {
      this.#hasWoken = false;
      this.#lostBy = undefined;
    }
    const added = this.options.map.see(view);
    noteEnds(this.options.map, view);
    if (added > 0 && this.#presses > 0) this.#scrolls += 1;
    this.#size = Math.max(this.#size, rowsAndColumns(view.places.values()));
    return view;
  }

  #isOver(ms: number): boolean {
    return performance.now() - this.#began >= ms;
  }

  #most(): number {
    return this.options.mostPresses ?? Math.min(longestWalk, 4 * (this.#size + this.#scrolls));
  }

  #stuck({ focused }: View, goal: Goal | undefined): DeviceError {
    if (focused === undefined)
      return new DeviceError(
        "ELEMENT_NOT_ACTIONABLE",
        `Nothing on the screen has the focus${this.#hasWoken ? ", also after DOWN" : ""}. Take a picture; wait, or press OK or BACK for a screen with a focus.`,
      );
    return goal?.isShown === true ? this.#trapped(focused) : this.#notFound();
  }

  #trapped(focused: Place): DeviceError {
    const keys = arrows.filter((arrow) => this.#tried.has(arrow)).join(", ");
    return new DeviceError(
      "FOCUS_TRAPPED",
      `The focus is on ${described(focused)} and no key leads from there to ${this.options.wanted}: ${keys || "no key"} in ${this.#presses} presses, on ${this.#visited.size} elements. Press BACK, or choose what the remote can reach.`,
      { focused: focused.element.name, tried: [...this.#tried], presses: this.#presses },
    );
  }

  #notFound(): DeviceError {
    const { map, wanted, gone } = this.options;
    if (gone) return gone();
    const names = nearest(wanted, map.names());
    const searched = this.#presses > 0 ? `, also where ${this.#presses} presses led` : "";
    return new DeviceError(
      "ELEMENT_NOT_FOUND",
      `Nothing that can have the focus matches ${wanted}${searched}${orNearest(names) || "; dump_ui_elements shows what is there"}`,
      { nearest: names, presses: this.#presses },
    );
  }

  #tooFar(focused: Place, goal: Goal | undefined): DeviceError {
    if (goal === undefined) return this.#notFound();
    // As many presses as there are keys on the places it stood on: it goes round and round among them.
    const isRound = this.#presses >= arrows.length * this.#visited.size && this.#tried.size === arrows.length;
    if (goal.isShown && isRound) return this.#trapped(focused);
    return new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      `The focus did not reach ${this.options.wanted} in ${this.#presses} presses; it is on ${described(focused)}. Press keys with press_key, and look after each.`,
      { focused: focused.element.name, presses: this.#presses },
    );
  }
}

const described = ({ element: { role, name } }: Place): string => `${role} ${JSON.stringify(name)}`;
