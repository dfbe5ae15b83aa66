import type { InpageScrolls } from "./scrolls.ts";

/** Milliseconds: since the action began, since it ended, and until the wait is over. */
export type RestTimes = { elapsedMs: number; endedMs: number; leftMs: number };

type Timer = { at: number; ms: number; key: string };

/**
 * Knows when a document is at rest: parsed, no timer of at most half a second that an action started, no finite animation,
 * and no change over two frames. Runs inside the page, from before the page's own first script.
 */
export class InpageRest {
  /** The browser's own, taken before a page or a test clock replaces them. */
  private readonly native = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    frame: globalThis.requestAnimationFrame,
    listen: EventTarget.prototype.addEventListener,
    now: performance.now.bind(performance),
    textOf: Function.prototype.toString,
  };
  /** A later timer is not part of what an action began. */
  private readonly longestTimerMs = 500;
  /** A timer that was set again so often with no change in between waits for something that does not come. */
  private readonly mostIdleTurns = 10;
  private readonly framesAtRest = 2;
  /** A frame that the browser does not draw, such as one out of view, gets no animation frames. A tab's own is only late. */
  private readonly undrawnFrameMs = window.top === window ? 500 : 100;
  private readonly mostNoted = 200;
  private readonly nextTurnMs = 4;
  /** For so long after a rest it is known whether anything has changed since. */
  private readonly watchedOnMs = 250;

  private readonly timers = new Map<unknown, Timer>();
  private readonly turns = new Map<string, { count: number; changes: number }>();
  /** How often a timer was set while no action went on: such a one repeats by itself. */
  private readonly idle = new Map<string, number>();
  private noted: Timer[] = [];
  private lastRestAt = 0;
  private changes = 0;
  private changed: Node | undefined;
  private watching = 0;
  private readonly scrolls: InpageScrolls;
  /** The number of changes when the document was last at rest; -1 when changes were not watched since. */
  private stillAfter = -1;
  private readonly observer = new MutationObserver((records) => this.see(records));

  constructor(Scrolls: typeof InpageScrolls) {
    const { native } = this;
    const hear = (type: string, listener: () => void) =>
      Reflect.apply(native.listen, globalThis, [type, listener, { capture: true, passive: true }]);
    this.scrolls = new Scrolls(
      () => this.changes++,
      hear,
      (own, call) => this.wrapped(own, call),
    );
  }

  watch(): void {
    const { native, timers } = this;
    globalThis.setTimeout = this.wrapped(native.setTimeout, (self, args) => this.start(self, args));
    for (const name of ["clearTimeout", "clearInterval"] as const) {
      const own = globalThis[name];
      globalThis[name] = this.wrapped(own, (self, args) => {
        timers.delete(args[0]);
        return Reflect.apply(own, self, args);
      });
    }
    this.scrolls.watch();
  }

  /** Name, length, properties and text of a function of the browser stay what they are. */
  private wrapped<F extends object>(own: F, call: (self: unknown, args: unknown[]) => unknown): F {
    const { textOf } = this.native;
    const ownText = () => Reflect.apply(textOf, own, []);
    return new Proxy(own, {
      apply: (_own, self, args) => call(self, args),
      get: (target, key) => (key === "toString" ? ownText : Reflect.get(target, key)),
    });
  }

  private start(self: unknown, args: unknown[]): unknown {
    const [handler, delay, ...rest] = args;
    const ms = Number(delay) || 0;
    const { timers, native } = this;
    if (typeof handler !== "function" || ms > this.longestTimerMs)
      return Reflect.apply(native.setTimeout, self, args);
    const ended = () => {
      timers.delete(id);
      this.changes++;
    };
    const run = function (this: unknown, ...given: unknown[]) {
      ended();
      return Reflect.apply(handler, this, given);
    };
    const id: unknown = Reflect.apply(native.setTimeout, self, [run, delay, ...rest]);
    const text = String(Reflect.apply(native.textOf, handler, []));
    const timer = { at: native.now(), ms, key: `${ms} ${text.slice(0, 200)}` };
    timers.set(id, timer);
    this.note(timer);
    return id;
  }

  private note(timer: Timer): void {
    this.noted.push(timer);
    if (this.noted.length > this.mostNoted) this.noted.shift();
    const turn = this.turns.get(timer.key);
    // The end of the timer before is a change of its own.
    const isIdle = turn !== undefined && this.changes <= turn.changes + 1;
    this.turns.set(timer.key, { count: isIdle ? turn.count + 1 : 1, changes: this.changes });
    if (this.turns.size > this.mostNoted) this.turns.clear();
  }

  /**
   * Ends when the document is at rest, or after `leftMs`; the action began `elapsedMs` ago and ended `endedMs` ago. Says in a
   * few words each what goes on then.
   */
  async rest({ elapsedMs, endedMs, leftMs }: RestTimes): Promise<string[]> {
    const { native } = this;
    const since = native.now() - elapsedMs;
    const until = native.now() + leftMs;
    this.learn(since);
    if (leftMs <= 0 || this.isStill(since, native.now() - endedMs, until)) return this.goingOn(since, false);
    this.observe();
    this.scrolls.forget();
    try {
      let seen = this.changes;
      for (let still = 0; still < this.framesAtRest; ) {
        await this.nextFrame();
        this.scrolls.frameDrawn();
        const isOver = native.now() >= until;
        if (this.changes === seen && !this.isBusy(since, until)) still++;
        else if (isOver) return this.goingOn(since, this.changes !== seen);
        else still = 0;
        seen = this.changes;
      }
      this.stillAfter = this.changes;
      return this.goingOn(since, false);
    } finally {
      this.lastRestAt = native.now();
      native.setTimeout.call(globalThis, () => this.unobserve(), this.watchedOnMs);
    }
  }

  /** A script has set a timer for its very next turn. */
  hasTimerDue(): boolean {
    return [...this.timers.values()].some(({ ms }) => ms <= this.nextTurnMs);
  }

  /** Ends behind the timers that are due now. */
  async untilTimersDue(): Promise<void> {
    if (!this.hasTimerDue()) return;
    await new Promise((done) => this.native.setTimeout.call(globalThis, done, this.nextTurnMs));
  }

  private observe(): void {
    this.watching++;
    const everything = { subtree: true, childList: true, attributes: true, characterData: true };
    this.observer.observe(document, everything);
  }

  private unobserve(): void {
    this.watching--;
    if (this.watching > 0) return;
    this.observer.disconnect();
    this.stillAfter = -1;
  }

  /** The document came to rest behind the action, and nothing has changed since: it need not stand still once more. */
  private isStill(since: number, actedAt: number, until: number): boolean {
    this.see(this.observer.takeRecords());
    return this.lastRestAt >= actedAt && this.changes === this.stillAfter && !this.isBusy(since, until);
  }

  private see(records: readonly MutationRecord[]): void {
    const last = records.at(-1);
    if (last === undefined) return;
    this.changes++;
    this.changed = last.target;
  }

  /** Ends when the browser begins to draw the next frame. */
  nextFrame(): Promise<void> {
    const { native } = this;
    return new Promise((done) => {
      const undrawn = native.setTimeout.call(globalThis, done, this.undrawnFrameMs);
      native.frame.call(globalThis, () => {
        native.clearTimeout.call(globalThis, undrawn);
        done();
      });
    });
  }

  /** What was set between the last rest and this action was set by the page itself. */
  private learn(since: number): void {
    for (const { at, key } of this.noted)
      if (at > this.lastRestAt && at < since) this.idle.set(key, (this.idle.get(key) ?? 0) + 1);
    if (this.idle.size > this.mostNoted) this.idle.clear();
    this.noted = this.noted.filter(({ at }) => at >= since);
  }

  private isBusy(since: number, until: number): boolean {
    return (
      document.readyState === "loading" ||
      this.scrolls.isGoingOn() ||
      this.openTimers(since).length > 0 ||
      this.animations(since).some(({ endsAt }) => endsAt <= until)
    );
  }

  private openTimers(since: number): Timer[] {
    return [...this.timers.values()].filter(
      ({ at, key }) =>
        at >= since &&
        (this.idle.get(key) ?? 0) < 2 &&
        (this.turns.get(key)?.count ?? 0) < this.mostIdleTurns,
    );
  }

  /** Finite ones that began since; a scroll or a test clock drives those on other timelines. */
  private animations(since: number): { target: Element | null; endsAt: number }[] {
    return document.getAnimations().flatMap((animation) => {
      const { effect, currentTime } = animation;
      if (!this.isRunning(animation, since)) return [];
      const endTime = Number(effect?.getComputedTiming().endTime ?? 0);
      if (!Number.isFinite(endTime)) return [];
      const left = (endTime - Number(currentTime ?? 0)) / Math.abs(animation.playbackRate || 1);
      const target = effect instanceof KeyframeEffect ? effect.target : null;
      return [{ target, endsAt: this.native.now() + left }];
    });
  }

  private isRunning({ timeline, startTime, playState }: Animation, since: number): boolean {
    if (playState !== "running" || timeline !== document.timeline) return false;
    return typeof startTime !== "number" || startTime >= since;
  }

  private goingOn(since: number, isChanging: boolean): string[] {
    const loading = document.readyState === "loading" ? ["loading of the document"] : [];
    const timers = this.openTimers(since).length > 0 ? ["timers"] : [];
    const changing = isChanging && this.changed ? [`changes of ${this.nameOf(this.changed)}`] : [];
    const moving = this.animations(since).map(({ target }) => `animation of ${this.nameOf(target)}`);
    return [...new Set([...loading, ...timers, ...changing, ...moving])];
  }

  /** `<div#menu>` or `<div.spinner>`. */
  private nameOf(node: Node | null): string {
    const element = node instanceof Element ? node : node?.parentElement;
    if (!element) return "the document";
    const [first] = element.classList;
    const mark = element.id ? `#${element.id}` : first ? `.${first}` : "";
    return `<${element.localName}${mark}>`.slice(0, 60);
  }
}
