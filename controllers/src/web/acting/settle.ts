import type { Page } from "playwright-core";
import type { Usable } from "../../contract.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import { MAX_FRAMES } from "../page/elementsInFrames.ts";
import type { OpenRequest } from "../page/requests.ts";
import { installRest, restOf } from "../page/rest.ts";
import { devToolsOf } from "../page/signals.ts";

/** From the end of an action to the reply, however much still goes on. */
const LONGEST_MS = 2_000;
/** From the end of an action to the judgement of its result: scripts that put a value back a moment later have run by then. */
const REACTION_MS = 700;
/** A page that does not say within this time what goes on in it is busy. */
const ANSWER_MS = 200;
/** A document is usually ready far sooner; one of which nothing was heard for this long is asked. */
const UNHEARD_MS = 1_000;

/**
 * What the actions since the screen was last usable have begun, and the waits for its end: navigations and windows, requests,
 * timers of at most half a second, finite animations, and two frames in which nothing changed; in the current tab, its frames
 * and the tabs that it opens. Times are those of `performance.now`.
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

  /** An action, or a part of it after which something is waited for, has ended. */
  ended(): void {
    this.#actedAt = performance.now();
  }

  /**
   * Waits until all of that has ended, two seconds at most, and says what still goes on then. Undefined where nothing has acted
   * since the screen was last usable.
   */
  async untilUsable(signal: AbortSignal): Promise<Usable | undefined> {
    const since = this.#since;
    if (since === undefined) return undefined;
    const goingOn = await this.session.following(
      async () =>
        (await this.#rested(since, this.#longest(), signal)) ?? (await this.#stillGoingOn(since, signal)),
    );
    this.#since = undefined;
    this.#usableAt = performance.now();
    return { watchedMs: Math.round(this.#usableAt - since), goingOn };
  }

  /** Waits until the page has reacted to the action, so that what the action left can be judged. */
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

  /** What goes on when all has ended that is waited for; undefined when the time is over before. */
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
      // A tab that goes away while it is asked is not the action's fault; its next use reports it.
      return this.#isOpen() ? ["a tab that went away"] : [];
    } finally {
      deadline.done();
    }
  }

  /** Undefined when something began meanwhile, so that another round is due. */
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
            // A frame that goes away while it is asked counts as a commit, and is asked again.
            if (busy.signal.aborted) throw error;
            return [];
          }
        });
      return (await Promise.all(answers)).flat();
    } finally {
      busy.done();
    }
  }

  /** What goes on when the time is over. */
  async #stillGoingOn(since: number, signal: AbortSignal): Promise<readonly string[]> {
    if (!this.#isOpen()) return [];
    const page = this.session.page();
    const { requests, navigatingTo } = this.session.signals(page);
    const now = performance.now();
    const to = navigatingTo();
    const loading = to === undefined ? [] : [`loading of ${shortOf(to, page.url())}`];
    const asked = requests.open(since).map((request) => lineOf(request, page.url(), now));
    // A document that is being replaced gives no answer.
    if (to !== undefined) return [...loading, ...asked];
    const inPage = await this.#framesAtRest(since, 0, signal).catch(() => {
      signal.throwIfAborted();
      return ["a script of the page"];
    });
    return [...new Set([...asked, ...inPage])];
  }

  /**
   * Waits a moment for the page or window that an action opens, so that the next command meets it; true once it is there.
   * {@link untilUsable} waits for what goes on in it.
   */
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

  /** A pop-up blocker makes it never come. */
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

/** An address of the page's own origin without it; no query, which may hold a secret. */
function shortOf(url: string, pageUrl: string): string {
  if (!URL.canParse(url)) return url.slice(0, 100);
  const { origin, host, pathname } = new URL(url);
  const isOwn = URL.canParse(pageUrl) && new URL(pageUrl).origin === origin;
  return `${isOwn ? "" : host}${pathname}`.slice(0, 100);
}

/** Playwright at times never hears that an error page is ready; the document is asked itself then. */
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

/** False also where it cannot be asked: while its document changes, and outside Chromium. */
async function saysReady(page: Page): Promise<boolean> {
  const asked = { expression: "document.readyState !== 'loading'", returnByValue: true };
  const answer = await devToolsOf(page)
    ?.send("Runtime.evaluate", asked)
    .catch(() => undefined);
  return answer?.result.value === true;
}
