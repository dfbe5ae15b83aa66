import type { Page } from "playwright-core";
import type { Usable } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import { MAX_FRAMES } from "../page/elementsInFrames.ts";
import type { OpenRequest } from "../page/requests.ts";
import { installRest, restOf } from "../page/rest.ts";
import { devToolsOf } from "../page/signals.ts";

/** From the end of an action to the reply, however much still goes on. */
const LONGEST_MS = 2_000;
/** From the end of an action to the reading of its result: scripts that revert a value a moment later have run by then. */
const REACTION_MS = 700;
/** A page that does not answer within this time is busy. */
const ANSWER_MS = 200;
/** After this time without an event the document itself is asked whether it is ready. */
const UNHEARD_MS = 1_000;

/**
 * Waits for everything that the actions since the screen was last usable have begun: navigations, windows, requests, timers of at
 * most half a second, finite animations, and two frames without a change; in the current tab, its frames and the tabs that it
 * opens. Times are by `performance.now`.
 */
export class Settling {
  #since: number | undefined;
  #actedAt = 0;
  #usableAt = 0;

  constructor(private readonly session: DrivenSession) {
    session.onNewContext(installRest);
  }

  begins(): void {
    this.#since ??= performance.now();
  }

  /** An action, or a part of it that is waited for, has ended. */
  ended(): void {
    this.#actedAt = performance.now();
  }

  /** Waits two seconds at most, and returns what still goes on. Undefined without an action since the screen was last usable. */
  async untilUsable(signal: AbortSignal): Promise<Usable | undefined> {
    const since = this.#since;
    if (since === undefined) return undefined;
    const unfollow = this.session.follow();
    try {
      const rested = await this.#rested(since, this.#longest(), signal);
      const goingOn = rested ?? (await this.#stillGoingOn(since, signal));
      this.#since = undefined;
      this.#usableAt = performance.now();
      return { watchedMs: Math.round(this.#usableAt - since), goingOn };
    } finally {
      await unfollow();
    }
  }

  /** Waits until the page has reacted to the action. */
  async reaction(signal: AbortSignal): Promise<void> {
    if (this.#since !== undefined) await this.#rested(this.#since, this.#actedAt + REACTION_MS, signal);
  }

  isNavigating(): boolean {
    return this.#isOpen() && this.session.signals(this.session.page()).isNavigating();
  }

  #longest(): number {
    return this.#actedAt + LONGEST_MS;
  }

  #isOpen(): boolean {
    return this.session.isAlive() && this.session.pages().length > 0;
  }

  /** What goes on besides, after everything that is waited for has ended; undefined if time was up before. */
  async #rested(since: number, until: number, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const deadline = withDeadline(signal, leftOf(until));
    try {
      if (this.#isOpen()) this.session.signals(this.session.page()).requests.learn(this.#usableAt, since);
      while (this.#isOpen()) {
        const goingOn = await this.#restOnce(since, until, deadline.signal);
        if (goingOn !== undefined) return goingOn;
      }
      return [];
    } catch {
      signal.throwIfAborted();
      if (deadline.over()) return undefined;
      // The next use of a tab that goes away meanwhile reports it.
      return this.#isOpen() ? ["a tab that went away"] : [];
    } finally {
      deadline.done();
    }
  }

  /** Undefined if something began meanwhile, so another round is due. */
  async #restOnce(since: number, until: number, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const page = this.session.page();
    const signals = this.session.signals(page);
    const { requests } = signals;
    const windows = signals.windowsAsked();
    await this.documentReady(page, signal);
    while (requests.open(since).length > 0) await untilAborted(requests.ended(), signal);
    const commits = signals.commits();
    const goingOn = await this.#framesAtRest(since, leftOf(until), signal);
    if (signals.windowsAsked() > windows) await this.#windowOpened(page, signal);
    const isSame =
      this.session.page() === page &&
      !signals.isNavigating() &&
      signals.commits() === commits &&
      requests.open(since).length === 0;
    return isSame ? goingOn : undefined;
  }

  async #framesAtRest(since: number, leftMs: number, signal: AbortSignal): Promise<readonly string[]> {
    const page = this.session.page();
    const busy = withDeadline(signal, leftMs + ANSWER_MS);
    const now = performance.now();
    const times = { elapsedMs: now - since, endedMs: now - this.#actedAt, leftMs };
    try {
      const answers = page
        .frames()
        .slice(0, MAX_FRAMES)
        .map(async (frame) => {
          try {
            return await untilAborted(restOf(page, frame, times), busy.signal);
          } catch (error) {
            // A frame that goes away counts as a commit, so another round follows.
            if (busy.signal.aborted) throw error;
            return [];
          }
        });
      return (await Promise.all(answers)).flat();
    } finally {
      busy.done();
    }
  }

  async #stillGoingOn(since: number, signal: AbortSignal): Promise<readonly string[]> {
    if (!this.#isOpen()) return [];
    const page = this.session.page();
    const { requests, navigatingTo } = this.session.signals(page);
    const now = performance.now();
    const to = navigatingTo();
    const loading = to === undefined ? [] : [`loading of ${shortOf(to, page.url())}`];
    const asked = requests.open(since).map((request) => lineOf(request, page.url(), now));
    // A document that is being replaced does not answer.
    if (to !== undefined) return [...loading, ...asked];
    const inPage = await this.#framesAtRest(since, 0, signal).catch(() => {
      signal.throwIfAborted();
      return ["a script of the page"];
    });
    return [...new Set([...asked, ...inPage])];
  }

  /** Waits until the DOM of the page or window that an action opens is ready; false if it did not arrive in time. */
  async arrival(page: Page, windowsBefore: number, signal: AbortSignal): Promise<boolean> {
    const deadline = withDeadline(signal, leftOf(this.#longest()));
    try {
      if (this.session.signals(page).windowsAsked() > windowsBefore)
        await this.#windowOpened(page, deadline.signal);
      await this.documentReady(this.session.page(), deadline.signal);
      return true;
    } catch (error) {
      if (!deadline.over()) throw error;
      return false;
    } finally {
      deadline.done();
    }
  }

  /** The window never comes if a pop-up blocker stops it. */
  async #windowOpened(page: Page, signal: AbortSignal): Promise<void> {
    if (this.session.page() !== page) return;
    await untilAborted(this.session.browserContext().waitForEvent("page", { timeout: 0, signal }), signal);
  }

  async documentReady(page: Page, signal: AbortSignal): Promise<void> {
    const signals = this.session.signals(page);
    if (signals.isReady()) return;
    try {
      await untilAborted(signals.settled(), signal);
      await domReady(page, signal);
      signals.markReady();
    } catch (error) {
      if (!page.isClosed()) throw error;
    }
  }
}

const leftOf = (until: number): number => Math.ceil(Math.max(1, until - performance.now()));

const lineOf = ({ method, path, at }: OpenRequest, pageUrl: string, now: number): string =>
  `${method} ${shortOf(path, pageUrl)} (${((now - at) / 1_000).toFixed(1)} s)`;

/** Without the page's own origin, and without the query, which may hold a secret. */
function shortOf(url: string, pageUrl: string): string {
  if (!URL.canParse(url)) return shortened(url, 100);
  const { origin, host, pathname } = new URL(url);
  const isOwn = URL.canParse(pageUrl) && new URL(pageUrl).origin === origin;
  return shortened(`${isOwn ? "" : host}${pathname}`, 100);
}

/** Playwright sometimes misses that an error page is ready, so the document itself is asked too. */
async function domReady(page: Page, signal: AbortSignal): Promise<void> {
  const heard = page.waitForLoadState("domcontentloaded", { timeout: 0, signal });
  for (;;) {
    const unheard = withDeadline(signal, UNHEARD_MS);
    try {
      return await untilAborted(heard, unheard.signal);
    } catch (error) {
      if (!unheard.over()) throw error;
    } finally {
      unheard.done();
    }
    if (await untilAborted(saysReady(page), signal)) return;
  }
}

/** Also false while the document changes, and outside Chromium. */
async function saysReady(page: Page): Promise<boolean> {
  const asked = { expression: "document.readyState !== 'loading'", returnByValue: true };
  const answer = await devToolsOf(page)
    ?.send("Runtime.evaluate", asked)
    .catch(() => undefined);
  return answer?.result.value === true;
}
