import type { LiveRun } from "./liveRun.ts";
import type { Reason } from "./types.ts";

/** What a run waits for that has not started; `lane` is it and the runs that it shares its turns with, in their order. */
export function whyQueued(run: LiveRun, lane: readonly LiveRun[]): Reason | undefined {
  const ahead = lane.slice(0, lane.indexOf(run));
  const [first] = ahead;
  if (!first || run.hasStarted) return undefined;
  const { device, kind, name } = first.record.execution;
  const running = `${kind} "${name}" (${first.id})`;
  const message =
    ahead.length === 1
      ? `Next on ${device}, behind ${running}.`
      : `Number ${ahead.length} in the queue of ${device}; ${running} runs now.`;
  return { code: "QUEUED", message };
}
