import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import { engineSelector } from "../page/inpage.ts";
import { pulseOf } from "../page/pulse.ts";
import type { LiveContext } from "./liveContext.ts";

/** A page whose own thread has been silent for longer than this counts as frozen. */
const FROZEN_MS = 5_000;

/** `frozen`: the current page does not answer. `lost`: the browser, or our engine in it, cannot be used. */
export type Health = "well" | "frozen" | "lost";

/** Asks the current page one question by our own selector engine, which a command needs as much as the page. */
export async function healthOf(live: LiveContext, signal: AbortSignal): Promise<Health> {
  if (live.pages().length === 0) return "well";
  const page = live.page();
  const pulse = pulseOf(page);
  const end = pulse.begin();
  const limit = withDeadline(signal, Math.max(0, FROZEN_MS - (pulse.silentMs() ?? 0)));
  let answered = false;
  try {
    const question = page.locator(engineSelector({ kind: "ref", ref: "none" }));
    await untilAborted(question.count(), limit.signal);
    answered = true;
    return "well";
  } catch (error) {
    if (signal.aborted) throw error;
    if (limit.over()) return "frozen";
    return isMovingOn(error) ? "well" : "lost";
  } finally {
    end(answered);
    limit.done();
  }
}

/** A document that was replaced while it was asked belongs to a page that lives. */
function isMovingOn(error: unknown): boolean {
  return /context was destroyed|frame was detached|navigat/i.test(String(error));
}
