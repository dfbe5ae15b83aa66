import type { Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { untilAborted } from "../../waiting/deadlines.ts";
import type { WebSession } from "../browser/session.ts";
import { asDeviceError } from "../page/failures.ts";
import { pulseOf } from "../page/pulse.ts";

/** How long a look may take when its caller has no deadline of its own. */
export const ANSWER_DEADLINE_MS = 10_000;

/** A page that is silent for less may only be drawing, or wait for its turn on a machine with much to do. */
const BUSY_MS = 800;

export type Question = {
  /** The command, check or reading, as its caller named it. */
  what: string;
  /** Without it the work keeps deadlines of its own. */
  ms?: number | undefined;
  /** What work that keeps its own deadline of `ms` may take longer to say what was in the way, while the page answers. */
  graceMs?: number;
  /** How long work may take whose page is busy with it. */
  busyMs?: number;
  signal: AbortSignal;
  /** What the page has not done when it answers and the work is not done: "gave no picture". */
  silence?: string;
  /** The answer is about the app: refused while the tab shows something else. */
  isOfApp?: boolean;
  /** Says whether the URL policy refused something since the question began. */
  wasDenied?(): boolean;
};

type AskedSession = Pick<WebSession, "page" | "isAlive" | "strangeness" | "doubt">;

/**
 * The one way to ask a page anything. Ends within `ms`: with PAGE_UNRESPONSIVE, which says for how long the page's own thread
 * has been busy, when that was so for at least half of the time; else with COMMAND_TIMEOUT. Ends at once when `signal` aborts.
 * `work` is given a signal that aborts in both cases, and is abandoned when it does not obey. What `work` throws becomes a
 * DeviceError; a time-out of its own does so by the same rule. Throws PAGE_LOST where the tab no longer shows what the client opened.
 */
export async function ask<T>(
  session: AskedSession,
  question: Question,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const page = session.page();
  if (question.isOfApp) refuseStrange(session, question.what);
  const end = pulseOf(page).begin();
  const startedAt = performance.now();
  const deadline = deadlineOf(question, () => isBusySince(page, startedAt));
  let answered = false;
  try {
    const answer = await untilAborted(work(deadline.signal), deadline.signal);
    answered = true;
    return answer;
  } catch (error) {
    session.doubt();
    throw failureOf(session, page, question, { error, startedAt, isOver: deadline.over() });
  } finally {
    end(answered);
    deadline.done();
  }
}

function refuseStrange(session: AskedSession, what: string): void {
  const strangeness = session.strangeness();
  if (strangeness === undefined) return;
  throw new DeviceError(
    "PAGE_LOST",
    `${what} was not possible: ${strangeness}. Open the app again, by navigate_to_url, open_app or by going to a screen.`,
  );
}

/** The page's own thread has not answered for at least half of the time. */
function isBusySince(page: Page, startedAt: number): boolean {
  const silentMs = pulseOf(page).silentMs();
  return silentMs !== undefined && silentMs >= Math.max(BUSY_MS, (performance.now() - startedAt) / 2);
}

/** Ends after `ms` when the page is busy, else after the grace; `over` says that it was the time. */
function deadlineOf({ ms, graceMs = 0, busyMs = 0, signal }: Question, isBusy: () => boolean) {
  const controller = new AbortController();
  let isOver = false;
  const end = () => {
    isOver = true;
    controller.abort(new DOMException("the deadline is over", "TimeoutError"));
  };
  let timer: NodeJS.Timeout | undefined;
  const judge = () => {
    const moreMs = isBusy() ? busyMs - (ms ?? 0) : graceMs;
    if (moreMs <= 0) end();
    else timer = setTimeout(end, moreMs);
  };
  if (ms !== undefined) timer = setTimeout(judge, ms);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    over: () => isOver,
    done: () => clearTimeout(timer),
  };
}

function failureOf(
  session: AskedSession,
  page: Page,
  { what, ms, signal, silence, isOfApp, wasDenied }: Question,
  { error, startedAt, isOver }: { error: unknown; startedAt: number; isOver: boolean },
): DeviceError {
  const tookMs = Math.round(performance.now() - startedAt);
  const isTimed = isOver || (ms !== undefined && isTimeout(error));
  const isDue = isTimed && !signal.aborted && session.isAlive();
  if (isDue && isBusySince(page, startedAt)) return unresponsive(page, what);
  if (isOver && !signal.aborted && session.isAlive()) {
    return new DeviceError(
      "COMMAND_TIMEOUT",
      `The page ${silence ?? `did not end ${what}`} within ${tookMs} ms, though its script is not busy. Look at the screen, then try again.`,
    );
  }
  const isLost = isOfApp && session.isAlive() && !signal.aborted && !(error instanceof DeviceError);
  if (isLost) refuseStrange(session, what);
  return asDeviceError(error, {
    command: what,
    timeoutMs: ms ?? tookMs,
    signal,
    isAlive: () => session.isAlive(),
    wasDenied: wasDenied ?? (() => false),
  });
}

/** A DeviceError of the work that may only mean that the page was too busy to answer. */
function isTimeout(error: unknown): boolean {
  if (error instanceof DeviceError)
    return /^(COMMAND_TIMEOUT|ELEMENT_NOT_FOUND|NAVIGATION_FAILED)$/.test(error.code);
  return error instanceof Error && error.name === "TimeoutError";
}

function unresponsive(page: Page, what: string): DeviceError {
  const silentMs = pulseOf(page).silentMs() ?? 0;
  return new DeviceError(
    "PAGE_UNRESPONSIVE",
    `${what} got no answer: the page's own thread was busy for ${silentMs} ms. ` +
      "Give it longer with timeout_ms, start afresh with load_storage_state, or work in another tab.",
    { busy_ms: silentMs },
  );
}
