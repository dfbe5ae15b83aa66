import type { LiveRun } from "./liveRun.ts";
import type { Reason } from "./types.ts";

/**
 * What a run waits for that has not started; `lane` is it and the runs that it shares its turns with, in their order. At most
 * `mostDevices` run at the same time.
 */
export function whyQueued(run: LiveRun, lane: readonly LiveRun[], mostDevices: number): Reason | undefined {
  const ahead = lane.slice(0, lane.indexOf(run));
  const [first] = ahead;
  if (run.hasStarted) return undefined;
  if (!first) return run.record.execution.status === "queued" ? noSlot(run, mostDevices) : undefined;
  const { device, kind, name } = first.record.execution;
  const running = `${kind} "${name}" (${first.id})`;
  const message =
    ahead.length === 1
      ? `Next on ${device}, behind ${running}.`
      : `Number ${ahead.length} in the queue of ${device}; ${running} runs now.`;
  return { code: "QUEUED", message };
}

const noSlot = (run: LiveRun, mostDevices: number): Reason => ({
  code: "QUEUED",
  message: `${run.record.execution.device} waits for another device to end its run: ${mostDevices} run at the same time (limits.max_parallel_devices).`,
});
