import type { Page } from "playwright-core";
import type { CommandResult } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { asDeviceError } from "./failures.ts";
import { lookAhead } from "./look.ts";
import { ask } from "./question.ts";
import type { DrivenSession } from "./session.ts";
import { devToolsOf } from "./signals.ts";
import { untilAborted, withDeadline } from "./waiting.ts";

/** How long a page that an action opened may take until its DOM is ready. */
const PAGE_DEADLINE_MS = 30_000;
/** How long the tab may take to come to the task behind the action's own; a script may keep it busy. */
const BUSY_DEADLINE_MS = 5_000;
/** A document is usually ready far sooner; one of which nothing was heard for this long is asked. */
const UNHEARD_MS = 1_000;
/** Playwright keeps a command's deadline itself and says what was in the way; it is cut off where it cannot. */
const GRACE_MS = 3_000;
/** How long the page may take to say what an action left behind. */
const JUDGE_MS = 5_000;
/** From the page asking for a window to the window being there; a pop-up blocker makes it never. */
const WINDOW_DEADLINE_MS = 2_000;

export type Acting = {
  page: Page;
  signal: AbortSignal;
  /** What is left of the command's time, for Playwright's own deadlines; at least one millisecond. */
  left(): number;
  flush: Flush;
  /** Judges what the action left behind when the page is usable again; throws when it came to nothing. */
  whenUsable(judge: Judge): void;
};
type Judge = (signal: AbortSignal) => Promise<void>;

/**
 * The last question of a command to its page, asked behind the action. One whose own question is on its way over the same
 * session may `begin` it at once, since the page answers in turn, and must `drop` it when it goes on acting.
 */
export type Flush = { begin(): void; drop(): void; end(): Promise<void> };

export type ActOptions = {
  command: string;
  timeoutMs: number;
  signal: AbortSignal;
  done: string;
  /** The action asks the page piece by piece, each within `timeoutMs`, and may take longer as a whole. */
  isLong?: boolean;
};

/**
 * Runs one action and returns when the page that it changed is usable: at once if it started no navigation, else when
 * the new document's DOM is ready. New tabs are followed. `done` says in a few words what was done.
 */
export async function act(
  session: DrivenSession,
  options: ActOptions,
  action: (acting: Acting) => Promise<unknown>,
): Promise<CommandResult> {
  const denials = session.denials();
  try {
    return await session.following(async () => {
      const page = session.page();
      const before = stateOf(session, page);
      const flush = flushing(session, page, options.signal);
      const denied = () => session.denials() > denials;
      let judge: Judge | undefined;
      const whenUsable = (given: Judge) => {
        judge = given;
      };
      await run(session, options, action, { page, flush, whenUsable }, denied);
      await flush.end();
      await settle(session, page, before.windows, options.signal);
      refuseDenied(session, before.denials);
      if (session.page() === page) await judgeNow(session, options, judge);
      return report(session, page, before, options.done);
    });
  } catch (error) {
    await stopAfter(session, options.signal);
    throw asDeviceError(error, {
      ...options,
      isAlive: () => session.isAlive(),
      wasDenied: () => session.denials() > denials,
    });
  }
}

function run(
  session: DrivenSession,
  { command, timeoutMs, signal, isLong }: ActOptions,
  action: (acting: Acting) => Promise<unknown>,
  given: Pick<Acting, "page" | "flush" | "whenUsable">,
  wasDenied: () => boolean,
): Promise<unknown> {
  const until = performance.now() + timeoutMs;
  const left = () => Math.max(1, until - performance.now());
  const ms = isLong ? undefined : timeoutMs;
  return ask(session, { what: command, ms, graceMs: GRACE_MS, signal, wasDenied }, (limited) =>
    action({ ...given, signal: limited, left }),
  );
}

async function judgeNow(
  session: DrivenSession,
  { command, signal }: ActOptions,
  judge: Judge | undefined,
): Promise<void> {
  if (judge !== undefined) await ask(session, { what: command, ms: JUDGE_MS, signal }, judge);
}

function flushing(session: DrivenSession, page: Page, signal: AbortSignal): Flush {
  let asked: Promise<void> | undefined;
  const begin = () => {
    const own: Promise<void> = flushOnce(session, page, signal, () => asked === own);
    own.catch(() => undefined);
    asked = own;
    return own;
  };
  return {
    begin: () => void begin(),
    drop: () => {
      asked = undefined;
    },
    end: () => asked ?? begin(),
  };
}

async function flushOnce(
  session: DrivenSession,
  page: Page,
  signal: AbortSignal,
  isWanted: () => boolean,
): Promise<void> {
  const signals = session.signals(page);
  const busy = withDeadline(signal, BUSY_DEADLINE_MS);
  try {
    const ahead = lookAhead(session, page);
    const { isClosing, value: seen } = await untilAborted(
      signals.flush(busy.signal, ahead?.expression),
      busy.signal,
    );
    if (isClosing && !page.isClosed()) await page.waitForEvent("close", { timeout: 0, signal: busy.signal });
    const navigations = signals.navigations();
    const isCurrent = () => !signals.isNavigating() && signals.navigations() === navigations;
    if (isWanted()) ahead?.keep(seen, isCurrent);
  } catch (error) {
    // A document that went away, a closed tab or a busy script: the waits that follow are what decides.
    if (signal.aborted) throw error;
  } finally {
    busy.done();
  }
}

/** Waits until the page an action changed is usable. */
async function settle(
  session: DrivenSession,
  page: Page,
  windowsBefore: number,
  signal: AbortSignal,
): Promise<void> {
  const signals = session.signals(page);
  if (signals.windowsAsked() > windowsBefore) await windowOpened(session, page, signal);
  await documentReady(session, session.page(), signal);
}

async function windowOpened(session: DrivenSession, page: Page, signal: AbortSignal): Promise<void> {
  if (session.page() !== page) return;
  try {
    await session.browserContext().waitForEvent("page", { timeout: WINDOW_DEADLINE_MS, signal });
  } catch (error) {
    if (signal.aborted) throw error;
  }
}

async function documentReady(session: DrivenSession, page: Page, signal: AbortSignal): Promise<void> {
  const signals = session.signals(page);
  if (signals.isReady()) return;
  const deadline = withDeadline(signal, PAGE_DEADLINE_MS);
  try {
    await untilAborted(signals.settled(), deadline.signal);
    await domReady(page, deadline.signal);
    signals.markReady();
  } catch (error) {
    if (page.isClosed()) return;
    if (!deadline.over()) throw error;
    await signals.stop();
    throw new DeviceError(
      "COMMAND_TIMEOUT",
      `The action was done, but the page it opened was not usable within ${PAGE_DEADLINE_MS} ms; loading was stopped. Do not repeat the action; check that the site answers.`,
    );
  } finally {
    deadline.done();
  }
}

/** Playwright at times never hears that an error page is ready; the document is asked itself then. */
async function domReady(page: Page, signal: AbortSignal): Promise<void> {
  const heard = page.waitForLoadState("domcontentloaded", { timeout: PAGE_DEADLINE_MS, signal });
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

type Before = {
  url: string;
  navigations: number;
  windows: number;
  tabs: number;
  dialogs: number;
  denials: number;
};

function stateOf(session: DrivenSession, page: Page): Before {
  const signals = session.signals(page);
  return {
    url: page.url(),
    navigations: signals.navigations(),
    windows: signals.windowsAsked(),
    tabs: session.pages().length,
    dialogs: session.dialogs.history.length,
    denials: session.denials(),
  };
}

function refuseDenied(session: DrivenSession, denialsBefore: number): void {
  const url = session.signals(session.page()).failedNavigation();
  if (url === undefined || session.denials() === denialsBefore || !session.wasDenied(url)) return;
  throw new DeviceError(
    "URL_DENIED",
    `The action was done, but the URL policy denies the page it leads to: ${url.slice(0, 200)}. Take another way or change url_policy.`,
  );
}

function report(session: DrivenSession, page: Page, before: Before, done: string): CommandResult {
  const now = session.page();
  if (now !== page) {
    const index = session.pages().indexOf(now);
    if (page.isClosed())
      return {
        message: `${done}; its tab closed, now in tab ${index} at ${now.url()}`,
        data: { url: now.url(), tab: index },
      };
    session.notify("tab", `a new tab ${index} opened at ${now.url()} and is the current one`);
    return {
      message: `${done}; a new tab opened and is now current: tab ${index} at ${now.url()}`,
      data: { url: now.url(), tab: index },
    };
  }
  const moved = page.url() !== before.url || session.signals(page).navigations() > before.navigations;
  if (moved) return { message: `${done}; now at ${page.url()}`, data: { url: page.url() } };
  if (session.denials() > before.denials)
    return { message: `${done}; the URL policy refused a request of the page` };
  return { message: done };
}

/** A cancelled call must leave no navigation running behind it. */
async function stopAfter(session: DrivenSession, signal: AbortSignal): Promise<void> {
  if (!signal.aborted || !session.isAlive() || session.pages().length === 0) return;
  await session.signals(session.page()).stop();
}
