/**
 * Knows when a document is at rest: parsed, no timer of at most half a second that an action started, no finite animation, no
 * scroll, and no change over two frames. Runs in the page's own world, from before the page's own first script.
 */

/** Milliseconds since the action began, since it ended, and until the wait is over. */
export type RestTimes = { elapsedMs: number; endedMs: number; leftMs: number };

type Timer = { at: number; ms: number; key: string };

/** The browser's own functions, before a page or a test clock replaces them. */
const native = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  frame: globalThis.requestAnimationFrame,
  listen: EventTarget.prototype.addEventListener,
  now: performance.now.bind(performance),
  textOf: Function.prototype.toString,
};
/** A longer timer does not belong to an action. */
const longestTimerMs = 500;
/** A timer that was set again so often without a change of the page waits in vain. */
const mostIdleTurns = 10;
const framesAtRest = 2;
/** The browser draws no frames for a document out of view; those of a tab's main document are only late. */
const undrawnFrameMs = window.top === window ? 500 : 100;
const mostNoted = 200;
const nextTurnMs = 4;
/** Changes are watched this long after a rest. */
const watchedOnMs = 250;

const timers = new Map<unknown, Timer>();
const turns = new Map<string, { count: number; changes: number }>();
/** How often a timer was set without an action: it repeats by itself. */
const idle = new Map<string, number>();
let noted: Timer[] = [];
let lastRestAt = 0;
let changes = 0;
let changed: Node | undefined;
let watching = 0;
/** The number of changes when the document was last at rest; -1 if changes were not watched since. */
let stillAfter = -1;
const observer = new MutationObserver((records) => see(records));

/** A smooth scroll begins at most this many frames after it was asked for, unless it is already at its goal. */
const framesToBegin = 6;
let scrollAsked: { scroller: Element | null; behavior: unknown } | undefined;
let scrollFramesLeft = 0;
let isScrolling = false;

export type PageRest = {
  rest(times: RestTimes): Promise<string[]>;
  untilTimersDue(): Promise<void>;
};

declare global {
  var __labwrightRest: PageRest | undefined;
}

export function installRest(): void {
  if ("__labwrightRest" in globalThis) return;
  const value: PageRest = { rest, untilTimersDue };
  Object.defineProperty(globalThis, "__labwrightRest", { value });
  watch();
}

function watch(): void {
  globalThis.setTimeout = wrapped(native.setTimeout, (self, args) => start(self, args));
  for (const name of ["clearTimeout", "clearInterval"] as const) {
    const own = globalThis[name];
    globalThis[name] = wrapped(own, (self, args) => {
      timers.delete(args[0]);
      return Reflect.apply(own, self, args);
    });
  }
  watchScrolls();
}

/** A proxy keeps the name, length, properties and source text of the browser's function. */
function wrapped<F extends object>(own: F, call: (self: unknown, args: unknown[]) => unknown): F {
  const ownText = () => Reflect.apply(native.textOf, own, []);
  return new Proxy(own, {
    apply: (_own, self, args) => call(self, args),
    get: (target, key) => (key === "toString" ? ownText : Reflect.get(target, key)),
  });
}

function start(self: unknown, args: unknown[]): unknown {
  const [handler, delay, ...rest] = args;
  const ms = Number(delay) || 0;
  if (typeof handler !== "function" || ms > longestTimerMs)
    return Reflect.apply(native.setTimeout, self, args);
  const ended = () => {
    timers.delete(id);
    changes++;
  };
  const run = function (this: unknown, ...given: unknown[]) {
    ended();
    return Reflect.apply(handler, this, given);
  };
  const id: unknown = Reflect.apply(native.setTimeout, self, [run, delay, ...rest]);
  const text = String(Reflect.apply(native.textOf, handler, []));
  const timer = { at: native.now(), ms, key: `${ms} ${text.slice(0, 200)}` };
  timers.set(id, timer);
  note(timer);
  return id;
}

function note(timer: Timer): void {
  noted.push(timer);
  if (noted.length > mostNoted) noted.shift();
  const turn = turns.get(timer.key);
  // The end of the previous timer counts as one change.
  const isIdle = turn !== undefined && changes <= turn.changes + 1;
  turns.set(timer.key, { count: isIdle ? turn.count + 1 : 1, changes });
  if (turns.size > mostNoted) turns.clear();
}

/** Ends when the document is at rest, or after `leftMs`. Returns what still goes on, in a few words each. */
async function rest({ elapsedMs, endedMs, leftMs }: RestTimes): Promise<string[]> {
  const since = native.now() - elapsedMs;
  const until = native.now() + leftMs;
  learn(since);
  if (leftMs <= 0 || isStill(since, native.now() - endedMs, until)) return goingOn(since, false);
  observe();
  // The scroll of an element that is gone never ends.
  isScrolling = false;
  try {
    let seen = changes;
    for (let still = 0; still < framesAtRest; ) {
      await nextFrame();
      if (scrollFramesLeft > 0) scrollFramesLeft--;
      const isOver = native.now() >= until;
      if (changes === seen && !isBusy(since, until)) still++;
      else if (isOver) return goingOn(since, changes !== seen);
      else still = 0;
      seen = changes;
    }
    stillAfter = changes;
    return goingOn(since, false);
  } finally {
    lastRestAt = native.now();
    native.setTimeout.call(globalThis, () => unobserve(), watchedOnMs);
  }
}

function hasTimerDue(): boolean {
  return [...timers.values()].some(({ ms }) => ms <= nextTurnMs);
}

/** Ends after timers that are due at once. */
async function untilTimersDue(): Promise<void> {
  if (!hasTimerDue()) return;
  await new Promise((done) => native.setTimeout.call(globalThis, done, nextTurnMs));
}

function observe(): void {
  watching++;
  const everything = { subtree: true, childList: true, attributes: true, characterData: true };
  observer.observe(document, everything);
}

function unobserve(): void {
  watching--;
  if (watching > 0) return;
  observer.disconnect();
  stillAfter = -1;
}

/** The document came to rest after the action and has not changed since. */
function isStill(since: number, actedAt: number, until: number): boolean {
  see(observer.takeRecords());
  return lastRestAt >= actedAt && changes === stillAfter && !isBusy(since, until);
}

function see(records: readonly MutationRecord[]): void {
  const last = records.at(-1);
  if (last === undefined) return;
  changes++;
  changed = last.target;
}

/** Ends when the browser begins to draw the next frame. */
function nextFrame(): Promise<void> {
  return new Promise((done) => {
    const undrawn = native.setTimeout.call(globalThis, done, undrawnFrameMs);
    native.frame.call(globalThis, () => {
      native.clearTimeout.call(globalThis, undrawn);
      done();
    });
  });
}

/** Timers set between the last rest and this action are the page's own. */
function learn(since: number): void {
  for (const { at, key } of noted) if (at > lastRestAt && at < since) idle.set(key, (idle.get(key) ?? 0) + 1);
  if (idle.size > mostNoted) idle.clear();
  noted = noted.filter(({ at }) => at >= since);
}

function isBusy(since: number, until: number): boolean {
  return (
    document.readyState === "loading" ||
    isScrollGoingOn() ||
    openTimers(since).length > 0 ||
    animations(since).some(({ endsAt }) => endsAt <= until)
  );
}

function openTimers(since: number): Timer[] {
  return [...timers.values()].filter(
    ({ at, key }) => at >= since && (idle.get(key) ?? 0) < 2 && (turns.get(key)?.count ?? 0) < mostIdleTurns,
  );
}

/** Finite animations that began since. Those on other timelines follow a scroll or a test clock. */
function animations(since: number): { target: Element | null; endsAt: number }[] {
  return document.getAnimations().flatMap((animation) => {
    const { effect, currentTime } = animation;
    if (!isRunning(animation, since)) return [];
    const endTime = Number(effect?.getComputedTiming().endTime ?? 0);
    if (!Number.isFinite(endTime)) return [];
    const left = (endTime - Number(currentTime ?? 0)) / Math.abs(animation.playbackRate || 1);
    const target = effect instanceof KeyframeEffect ? effect.target : null;
    return [{ target, endsAt: native.now() + left }];
  });
}

function isRunning({ timeline, startTime, playState }: Animation, since: number): boolean {
  if (playState !== "running" || timeline !== document.timeline) return false;
  return typeof startTime !== "number" || startTime >= since;
}

function goingOn(since: number, isChanging: boolean): string[] {
  const loading = document.readyState === "loading" ? ["loading of the document"] : [];
  const timers = openTimers(since).length > 0 ? ["timers"] : [];
  const changing = isChanging && changed ? [`changes of ${nameOf(changed)}`] : [];
  const moving = animations(since).map(({ target }) => `animation of ${nameOf(target)}`);
  return [...new Set([...loading, ...timers, ...changing, ...moving])];
}

/** `<div#menu>` or `<div.spinner>`. */
function nameOf(node: Node | null): string {
  const element = node instanceof Element ? node : node?.parentElement;
  if (!element) return "the document";
  const [first] = element.classList;
  const mark = element.id ? `#${element.id}` : first ? `.${first}` : "";
  return `<${element.localName}${mark}>`.slice(0, 60);
}

function watchScrolls(): void {
  listen("scroll", () => scrollStep(true));
  listen("scrollend", () => scrollStep(false));
  listen("hashchange", () => noteScroll(undefined, []));
  for (const holder of [Element.prototype, globalThis])
    for (const name of ["scrollTo", "scrollBy", "scroll", "scrollIntoView", "scrollTop", "scrollLeft"])
      watchProperty(holder, name);
}

function listen(type: string, listener: () => void): void {
  Reflect.apply(native.listen, globalThis, [type, listener, { capture: true, passive: true }]);
}

/** The page scrolls, or is about to because a script asked for it. */
function isScrollGoingOn(): boolean {
  return isScrolling || (scrollFramesLeft > 0 && isScrollSmooth());
}

/** A method, or a property that scrolls when it is set. */
function watchProperty(holder: object, name: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(holder, name);
  for (const key of ["value", "set"] as const) {
    const own: unknown = descriptor?.[key];
    if (typeof own !== "function") continue;
    const watched = wrapped(own, (self, args) => {
      noteScroll(self, args);
      return Reflect.apply(own, self, args);
    });
    Object.defineProperty(holder, name, { ...descriptor, [key]: watched });
  }
}

function noteScroll(self: unknown, [first]: unknown[]): void {
  const behavior = first instanceof Object && "behavior" in first ? first.behavior : "auto";
  scrollAsked = { scroller: self instanceof Element ? self : document.scrollingElement, behavior };
  scrollFramesLeft = framesToBegin;
}

function scrollStep(isMoving: boolean): void {
  isScrolling = isMoving;
  scrollFramesLeft = 0;
  changes++;
}

/** Computed only during a wait, since reading a style costs time. */
function isScrollSmooth(): boolean {
  if (scrollAsked === undefined) return false;
  const { scroller, behavior } = scrollAsked;
  if (behavior === "smooth") return true;
  for (let at = behavior === "auto" ? scroller : null; at !== null; at = at.parentElement)
    if (getComputedStyle(at).scrollBehavior === "smooth") return true;
  return false;
}
