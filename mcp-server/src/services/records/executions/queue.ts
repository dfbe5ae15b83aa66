import type { Reason } from "./endings.ts";
import type { LiveRun } from "./liveRun.ts";

/** Runs jobs, one at a time for each `lane` (a device), in the order in which they came. */
export type JobPort = {
  /** Starts `run` in its turn, or at once when `signal` aborts before that: it only reports its own end then. */
  start(lane: string, run: () => Promise<void>, signal: AbortSignal): void;
  settled(): Promise<void>;
};

/** Jobs of this process. A job that throws is passed to `onError` and does not block the queue. */
export function inProcessJobs(onError: (error: unknown) => void): JobPort {
  const lanes = new Map<string, Promise<unknown>>();
  return {
    start(lane, run, signal) {
      const before = lanes.get(lane) ?? Promise.resolve();
      const job = turnOf(before, signal).then(run).catch(onError);
      // One that ended early keeps its place until those ahead of it have ended.
      const turn = Promise.all([before, job]);
      lanes.set(lane, turn);
      void turn.then(() => {
        if (lanes.get(lane) === turn) lanes.delete(lane);
      });
    },
    async settled() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}

/** Resolves when `before` has ended or `signal` aborts. Listens no longer than that: the signal may be that of a long lease. */
async function turnOf(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener("abort", stop, { once: true });
  });
  await Promise.race([before, aborted]).finally(() => signal.removeEventListener("abort", stop));
}

/** At most so many are taken at the same time; who waits for one gets it in turn. */
export class Slots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];
  /** Passed on directly, so that a later caller does not overtake one that waits. */
  private readonly giveBack = () => {
    const next = this.waiting.shift();
    if (next) next();
    else this.taken -= 1;
  };

  constructor(readonly most: number) {}

  /** The function that gives it back, to be called once; undefined when none is free. */
  takeNow(): (() => void) | undefined {
    if (this.taken >= this.most) return undefined;
    this.taken += 1;
    return this.giveBack;
  }

  /** Waits for one. Without one, gives a function that does nothing, as soon as `signal` aborts. */
  take(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve) => {
      const now = this.takeNow();
      if (now) return resolve(now);
      if (signal.aborted) return resolve(() => {});
      const got = () => {
        signal.removeEventListener("abort", stop);
        resolve(this.giveBack);
      };
      const stop = () => {
        this.waiting.splice(this.waiting.indexOf(got), 1);
        resolve(() => {});
      };
      this.waiting.push(got);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}

/** What a run that has not started waits for. `lane` are the runs of its queue, in order. */
export function whyQueued(run: LiveRun, lane: readonly LiveRun[], mostDevices: number): Reason | undefined {
  const ahead = lane.slice(0, lane.indexOf(run));
  const [first] = ahead;
  if (run.hasStarted) return undefined;
  if (!first) return run.options.record.execution.status === "queued" ? noSlot(run, mostDevices) : undefined;
  const { device, kind, name } = first.options.record.execution;
  const running = `${kind} "${name}" (${first.id})`;
  const message =
    ahead.length === 1
      ? `Next on ${device}, behind ${running}.`
      : `Number ${ahead.length} in the queue of ${device}; ${running} runs now.`;
  return { code: "QUEUED", message };
}

const noSlot = (run: LiveRun, mostDevices: number): Reason => ({
  code: "QUEUED",
  message: `${run.options.record.execution.device} waits for another device to end its run: ${mostDevices} run at the same time (limits.max_parallel_devices).`,
});
