import type { Page } from "playwright-core";
import type { CommandResult } from "../../contract.ts";
import { LOCATE_TIMEOUT_MS } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { pause, untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import { asDeviceError, closedOnInput, timedOutOnInput } from "../page/failures.ts";
import { pulseOf } from "../page/pulse.ts";
import type { PageSignals } from "../page/signals.ts";
import { forgetInputs, type KeptInputs, keepOn, takeInputs } from "./keptInput.ts";
import { ask } from "./question.ts";
import { actionBegins, actionEnded, arrival, documentReady, reaction } from "./settle.ts";

/** Playwright keeps a command's deadline itself and says what was in the way; it is cut off where it cannot. */
const GRACE_MS = 3_000;
/** How long a page may be busy that handles an input. */
const BUSY_INPUT_MS = 15_000;
/** How long the page may take to say what an action left behind. */
const JUDGE_MS = 5_000;
/** How long the tab may take to come to the task behind the action's own; a script may keep it busy. */
const BUSY_DEADLINE_MS = 2_000;
/** The browser has told of what it closed by then. */
const CLOSING_MS = 100;

export type Acting = {
  page: Page;
  /** When it began, as `performance.now` says it. */
  began: number;
  /** What is done, in a few words. */
  done: string;
  signal: AbortSignal;
  /** What is left of the command's time, for Playwright's own deadlines, in whole milliseconds; at least one. */
  left(): number;
  /** Judges what the action left behind when its page has reacted; throws when it came to nothing. */
  whenUsable(judge: Judge): void;
  /** Takes what {@link PageSignals.isAboutToAct} answers to a question that was asked before the action was over. */
  askedEarly(willAct: WillAct): void;
};

type WillAct = ReturnType<PageSignals["isAboutToAct"]>;
/** What could not be judged, in a few words; undefined where it was. */
type Judge = (signal: AbortSignal) => Promise<string | undefined>;

export type ActOptions = {
  command: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** What was done, in a few words. */
  done: string;
  /** The action asks the page piece by piece, each within `timeoutMs`, and may take longer as a whole. */
  isLong?: boolean;
  /** A page that an earlier action opens is waited for first: this one is meant for it. */
  awaitsPage?: boolean;
  /** A key that writes or moves: unless the page asks for something by then, the next command need not wait for its tasks. */
  isPlainKey?: boolean;
};

/**
 * Runs one action and returns when the page that it opened, if any, has arrived, so that the next command meets it. New tabs
 * are followed. That the screen is usable is waited for once, behind the last command (`createSettle`).
 */
export async function act(
  session: DrivenSession,
  options: ActOptions,
  action: (acting: Acting) => Promise<unknown>,
): Promise<CommandResult> {
  const denials = session.denials();
  try {
    return await session.following(async () => {
      const inputs = await readyPage(session, options);
      const page = session.page();
      const before = stateOf(session, page);
      let judge: Judge | undefined;
      const whenUsable = (given: Judge) => {
        judge = given;
      };
      let early: WillAct | undefined;
      const askedEarly = (given: WillAct) => {
        early = given;
      };
      actionBegins(session);
      try {
        await run(session, options, action, { page, whenUsable, askedEarly });
      } finally {
        actionEnded(session);
      }
      const isShort = options.isPlainKey === true || judge !== undefined;
      const askedBefore = isShort ? before.asked : undefined;
      await flush(session, page, { askedBefore, early, signal: options.signal });
      const hasArrived = await arrival(session, page, before.windows, options.signal);
      refuseDenied(session, before.denials);
      const unjudged = await judgeNow(session, page, options, judge);
      await keepOn(session, inputs, options.signal);
      const done = `${options.done}${hasArrived ? "" : "; its page is not there yet"}`;
      return withNews(report(session, page, before, done), unjudged);
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

/** The result, with what could not be judged. */
const withNews = (result: CommandResult, unjudged: string | undefined): CommandResult =>
  unjudged === undefined ? result : { ...result, message: `${result.message}; ${unjudged}`, isNews: true };

async function judgeNow(
  session: DrivenSession,
  page: Page,
  { command, signal }: ActOptions,
  judge: Judge | undefined,
): Promise<string | undefined> {
  if (judge === undefined) return undefined;
  await reaction(session, signal);
  if (session.page() !== page) return undefined;
  return ask(session, { what: command, ms: JUDGE_MS, signal }, judge);
}

/** Waits for the page that the action is meant for, and returns the inputs that it still holds. */
async function readyPage(session: DrivenSession, options: ActOptions): Promise<KeptInputs> {
  if (!options.awaitsPage) return forgetInputs(session);
  await pendingPage(session, options);
  return takeInputs(session, options.signal);
}

async function pendingPage(
  session: DrivenSession,
  { command, timeoutMs, signal }: ActOptions,
): Promise<void> {
  const page = session.page();
  if (!session.signals(page).isNavigating()) return;
  const deadline = withDeadline(signal, timeoutMs);
  try {
    await documentReady(session, page, deadline.signal);
  } catch (error) {
    if (!deadline.over()) throw error;
    throw new DeviceError(
      "COMMAND_TIMEOUT",
      `${command} was not run: the page opened by the previous action did not load within ${timeoutMs} ms. Check that the site answers, or raise timeout_ms.`,
    );
  } finally {
    deadline.done();
  }
}

function run(
  session: DrivenSession,
  { command, timeoutMs, signal, done, isLong, awaitsPage }: ActOptions,
  action: (acting: Acting) => Promise<unknown>,
  given: Pick<Acting, "page" | "whenUsable" | "askedEarly">,
): Promise<unknown> {
  const began = performance.now();
  const left = () => Math.max(1, Math.round(began + timeoutMs - performance.now()));
  const denials = session.denials();
  const question = {
    what: command,
    ms: isLong ? undefined : timeoutMs,
    graceMs: GRACE_MS,
    busyMs: busyMsOf(timeoutMs),
    signal,
    isOfApp: awaitsPage === true,
    wasDenied: () => session.denials() > denials,
  };
  return ask(session, question, async (limited) => {
    try {
      await action({ ...given, began, done, signal: limited, left });
    } catch (error) {
      if (closedOnInput(error) && (await goesOn(session, given.page, limited))) return;
      if (!timedOutOnInput(error) || !(await answersAgain(given.page, limited))) throw error;
    }
  });
}

/** A page that is busy with an input, or before it, is waited for longer, unless the caller gives less than the usual time. */
export const busyMsOf = (timeoutMs: number): number =>
  timeoutMs < LOCATE_TIMEOUT_MS ? timeoutMs : Math.max(timeoutMs, BUSY_INPUT_MS);

/** The input was sent, and the page had no time to say so: true once it does. False where it was not busy. */
async function answersAgain(page: Page, signal: AbortSignal): Promise<boolean> {
  if (pulseOf(page).silentMs() === undefined) return false;
  await untilAborted(page.evaluate("0"), signal);
  return true;
}

/** Whether the session goes on after an input that closed its own tab or frame, and not because the browser is gone. */
async function goesOn(session: DrivenSession, page: Page, signal: AbortSignal): Promise<boolean> {
  await pause(CLOSING_MS, signal);
  return session.isAlive() && session.pages().some((one) => one !== page || !page.isClosed());
}

type Flush = { askedBefore: number | undefined; early: WillAct | undefined; signal: AbortSignal };

/**
 * Ends when the browser has told of the navigation, window or closing that the action's own handlers began. With `askedBefore`
 * it does not wait for their tasks when they have asked for nothing since.
 */
async function flush(
  session: DrivenSession,
  page: Page,
  { askedBefore, early, signal }: Flush,
): Promise<void> {
  const signals = session.signals(page);
  const busy = withDeadline(signal, BUSY_DEADLINE_MS);
  try {
    if (askedBefore !== undefined) {
      const saysCalm = async () =>
        (await early) === false || (await signals.isAboutToAct(busy.signal)) === false;
      const isCalm = await untilAborted(saysCalm(), busy.signal);
      // Only the page's own document is asked; a frame in it may hear the key.
      const isAlone = page.frames().length === 1;
      if (isAlone && isCalm && signals.asked() === askedBefore && !signals.isNavigating()) return;
    }
    const isClosing = await untilAborted(signals.flush(busy.signal), busy.signal);
    if (isClosing && !page.isClosed()) await page.waitForEvent("close", { timeout: 0, signal: busy.signal });
  } catch (error) {
    // A document that went away, a closed tab or a busy script: the waits that follow are what decides.
    if (signal.aborted) throw error;
  } finally {
    busy.done();
  }
}

type Before = {
  url: string;
  asked: number;
  navigations: number;
  windows: number;
  denials: number;
};

function stateOf(session: DrivenSession, page: Page): Before {
  const signals = session.signals(page);
  return {
    url: page.url(),
    asked: signals.asked(),
    navigations: signals.navigations(),
    windows: signals.windowsAsked(),
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
