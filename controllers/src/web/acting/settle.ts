import type { Page } from "playwright-core";
import type { Usable } from "../../contract.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import { MAX_FRAMES } from "../page/elementsInFrames.ts";
import type { OpenRequest } from "../page/requests.ts";
import { installRest, restOf } from "../page/rest.ts";
import { devToolsOf } from "../page/signals.ts";
import { refuseLost } from "./keptInput.ts";

/** From the end of an action to the reply, however much still goes on. */
const LONGEST_MS = 2_000;
/** From the end of an action to the judgement of what it left behind: what puts a value back a moment later has its turn. */
const REACTION_MS = 700;
/** A page that does not say within this time what goes on in it is busy. */
const ANSWER_MS = 200;
/** A document is usually ready far sooner; one of which nothing was heard for this long is asked. */
const UNHEARD_MS = 1_000;

/** The actions since the screen was last usable. Times are those of `performance.now`. */
type Span = { since: number | undefined; actedAt: number; endedAt: number };

const spans = new WeakMap<DrivenSession, Span>();

function spanOf(session: DrivenSession): Span {
  const known = spans.get(session);
  if (known) return known;
  const span: Span = { since: undefined, actedAt: 0, endedAt: 0 };
  spans.set(session, span);
  return span;
}

export function actionBegins(session: DrivenSession): void {
  spanOf(session).since ??= performance.now();
}

export function actionEnded(session: DrivenSession): void {
  spanOf(session).actedAt = performance.now();
}

/** What is waited for: what the actions since `since` began, until `until` at the latest. */
type Wait = { session: DrivenSession; span: Span; since: number; until: number };

const endOf = ({ actedAt }: Span): number => actedAt + LONGEST_MS;
const leftOf = (until: number): number => Math.ceil(Math.max(1, until - performance.now()));

/**
 * Waits until what the last actions began has ended: navigations and windows, requests, timers of at most half a second,
 * finite animations, and two frames in which nothing changed; in the current tab, its frames and the tabs that it opens.
 * After two seconds it ends all the same, and says what still goes on. Throws INPUT_NOT_TAKEN where the page lost an input meanwhile.
 */
export function createSettle(session: DrivenSession): (signal: AbortSignal) => Promise<Usable> {
  session.onNewContext(installRest);
  return async (signal) => {
    const span = spanOf(session);
    const { since } = span;
    if (since === undefined) return { watchedMs: 0, goingOn: [] };
    const wait = { session, span, since, until: endOf(span) };
    const goingOn = await session.following(
      async () => (await rested(wait, signal)) ?? (await stillGoingOn(wait, signal)),
    );
    span.since = undefined;
    span.endedAt = performance.now();
    await refuseLost(session, signal);
    const isHidden = isOpen(session) && session.signals(session.page()).isNavigating();
    return { watchedMs: Math.round(span.endedAt - since), goingOn, ...(isHidden && { isHidden }) };
  };
}

/** Waits until the page has reacted to the action, so that what the action left behind can be judged. */
export async function reaction(session: DrivenSession, signal: AbortSignal): Promise<void> {
  const span = spanOf(session);
  if (span.since === undefined) return;
  await rested({ session, span, since: span.since, until: span.actedAt + REACTION_MS }, signal);
}

/** What goes on when all has ended that is waited for; undefined when the time is over before. */
async function rested(wait: Wait, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const { session, span, since, until } = wait;
  const deadline = withDeadline(signal, leftOf(until));
  try {
    for (let first = true; isOpen(session); first = false) {
      if (first) session.signals(session.page()).requests.learn(span.endedAt, since);
      const goingOn = await restOnce(wait, deadline.signal);
      if (goingOn !== undefined) return goingOn;
    }
    return [];
  } catch {
    signal.throwIfAborted();
    if (deadline.over()) return undefined;
    // A tab that goes away while it is asked is no fault of the action; whoever uses it next is told.
    return isOpen(session) ? ["a tab that went away"] : [];
  } finally {
    deadline.done();
  }
}

const isOpen = (session: DrivenSession): boolean => session.isAlive() && session.pages().length > 0;

/** Undefined when something began meanwhile, so that another round is due. */
async function restOnce(wait: Wait, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const { session, since, until } = wait;
  const page = session.page();
  const signals = session.signals(page);
  const windows = signals.windowsAsked();
  await documentReady(session, page, signal);
  while (signals.requests.open(since).length > 0) await untilAborted(signals.requests.ended(), signal);
  const commits = signals.commits();
  const goingOn = await framesAtRest(wait, leftOf(until), signal);
  if (signals.windowsAsked() > windows) await windowOpened(session, page, signal);
  const isSame =
    session.page() === page &&
    !signals.isNavigating() &&
    signals.commits() === commits &&
    signals.requests.open(since).length === 0;
  return isSame ? goingOn : undefined;
}

async function framesAtRest(
  { session, span, since }: Wait,
  leftMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const page = session.page();
  const busy = withDeadline(signal, leftMs + ANSWER_MS);
  const now = performance.now();
  const times = { elapsedMs: now - since, endedMs: now - span.actedAt, leftMs };
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
async function stillGoingOn(wait: Wait, signal: AbortSignal): Promise<readonly string[]> {
  const { session, since } = wait;
  if (!isOpen(session)) return [];
  const page = session.page();
  const { requests, navigatingTo } = session.signals(page);
  const now = performance.now();
  const to = navigatingTo();
  const loading = to === undefined ? [] : [`loading of ${shortOf(to, page.url())}`];
  const asked = requests.open(since).map((request) => lineOf(request, page.url(), now));
  // A document that is being replaced gives no answer.
  if (to !== undefined) return [...loading, ...asked];
  const inPage = await framesAtRest(wait, 0, signal).catch(() => {
    signal.throwIfAborted();
    return ["a script of the page"];
  });
  return [...new Set([...loading, ...asked, ...inPage])];
}

const lineOf = ({ method, path, at }: OpenRequest, pageUrl: string, now: number): string =>
  `${method} ${shortOf(path, pageUrl)} (${((now - at) / 1_000).toFixed(1)} s)`;

/** An address of the page's own origin without it; no query, which may hold a secret. */
function shortOf(url: string, pageUrl: string): string {
  if (!URL.canParse(url)) return url.slice(0, 100);
  const { origin, host, pathname } = new URL(url);
  const isOwn = URL.canParse(pageUrl) && new URL(pageUrl).origin === origin;
  return `${isOwn ? "" : host}${pathname}`.slice(0, 100);
}

/**
 * Waits a moment for the page or window that an action opens, so that the next command meets it; true once it is there.
 * What goes on in it is for {@link createSettle}.
 */
export async function arrival(
  session: DrivenSession,
  page: Page,
  windowsBefore: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = withDeadline(signal, leftOf(endOf(spanOf(session))));
  try {
    if (session.signals(page).windowsAsked() > windowsBefore)
      await windowOpened(session, page, deadline.signal);
    await documentReady(session, session.page(), deadline.signal);
    return true;
  } catch (error) {
    if (!deadline.over()) throw error;
    return false;
  } finally {
    deadline.done();
  }
}

/** A pop-up blocker makes it never come. */
async function windowOpened(session: DrivenSession, page: Page, signal: AbortSignal): Promise<void> {
  if (session.page() !== page) return;
  await untilAborted(session.browserContext().waitForEvent("page", { timeout: 0, signal }), signal);
}

export async function documentReady(session: DrivenSession, page: Page, signal: AbortSignal): Promise<void> {
  const signals = session.signals(page);
  if (signals.isReady()) return;
  try {
    await untilAborted(signals.settled(), signal);
    await domReady(page, signal);
    signals.markReady();
  } catch (error) {
    if (!page.isClosed()) throw error;
  }
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
