import { untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { engineSelector } from "./inpage.ts";
import type { LiveContext } from "./liveContext.ts";

/** A page that runs a script for longer than this when it is asked counts as frozen. */
const ANSWER_DEADLINE_MS = 5_000;

/** `frozen`: the current page does not answer. `lost`: the browser, or our engine in it, cannot be used. */
export type Health = "well" | "frozen" | "lost";

/** Asks the current page one question by our own selector engine, which a command needs as much as the page. */
export async function healthOf(live: LiveContext, signal: AbortSignal): Promise<Health> {
  const limit = withDeadline(signal, ANSWER_DEADLINE_MS);
  try {
    if (live.pages().length === 0) return "well";
    const question = live.page().locator(engineSelector({ kind: "ref", ref: "none" }));
    await untilAborted(question.count(), limit.signal);
    return "well";
  } catch (error) {
    if (signal.aborted) throw error;
    if (limit.over()) return "frozen";
    return isMovingOn(error) ? "well" : "lost";
  } finally {
    limit.done();
  }
}

/** A document that was replaced while it was asked belongs to a page that lives. */
function isMovingOn(error: unknown): boolean {
  return /context was destroyed|frame was detached|navigat/i.test(String(error));
}
