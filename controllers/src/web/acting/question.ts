import type { Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { untilAborted } from "../../waiting/deadlines.ts";
import type { WebSession } from "../browser/session.ts";
import { asDeviceError } from "../page/failures.ts";
import { pulseOf } from "../page/pulse.ts";

/** How long a snapshot or check may take if its caller sets no deadline. */
export const ANSWER_DEADLINE_MS = 10_000;

/** A page that is silent for less may only be drawing, or waiting for a busy machine. */
const BUSY_MS = 800;

export type Question = {
  /** Name of the command, check or reading. */
  what: string;
  /** Deadline; without it the work keeps its own. */
  ms?: number | undefined;
  /** Extra time, while the page answers, for work that keeps the deadline itself and then says what was in the way. */
  graceMs?: number;
  /** Deadline while the page is busy. */
  busyMs?: number;
  signal: AbortSignal;
  /** For the error of a page that is not busy: "gave no picture". */
  silence?: string;
  /** The question is about the app: refused while the tab shows something else. */
  isOfApp?: boolean;
  /** Whether the URL policy refused a request since the question began. */
  wasDenied?(): boolean;
};

type AskedSession = Pick<WebSession, "page" | "isAlive" | "strangeness" | "doubt">;

/**
 * The one way to ask a page anything. Ends within `ms`, or at once when `signal` aborts. Throws PAGE_UNRESPONSIVE with the time for
 * which the page's thread was busy, if that was at least half of the time; else COMMAND_TIMEOUT; PAGE_LOST if the tab no longer
 * shows what the client opened. `work` gets a signal that aborts in all these cases, and is abandoned if it goes on. Its own errors
 * become DeviceErrors, its timeouts by the same rule.
 */
export async function ask<T>(
  session: AskedSession,
  question: Question,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const page = session.page();
  if (question.isOfApp) refuseStrange(session, `${question.what} was not possible`);
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

function refuseStrange(session: AskedSession, outcome: string): void {
  const strangeness = session.strangeness();
  if (strangeness === undefined) return;
  throw new DeviceError(
    "PAGE_LOST",
    `${outcome}: ${strangeness}. Open the app again, by navigate_to_url, open_app or by going to a screen.`,
  );
}

/** The page's thread has not answered for at least half of the time. */
function isBusySince(page: Page, startedAt: number): boolean {
  const silentMs = pulseOf(page).silentMs();
  return silentMs !== undefined && silentMs >= Math.max(BUSY_MS, (performance.now() - startedAt) / 2);
}

/** Ends after `ms` and the extra time that a busy or answering page gets. `over`: the deadline has passed. */
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
  if (isLost) refuseStrange(session, `${what} did not end`);
  return asDeviceError(error, {
    command: what,
    timeoutMs: ms ?? tookMs,
    signal,
    isAlive: () => session.isAlive(),
    wasDenied: wasDenied ?? (() => false),
  });
}

/** An error that may only mean that the page was too busy to answer. */
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
