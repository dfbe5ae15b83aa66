/** Runs jobs, one at a time for each `lane` (a device), in the order in which they came. */
export type JobPort = {
  /** Starts `run` in its turn, or at once when `signal` aborts before that: it has only its own end left to tell. */
  start(lane: string, run: () => Promise<void>, signal: AbortSignal): void;
  /** Resolves when nothing runs or waits. */
  settled(): Promise<void>;
};

/** Jobs of this process. A job that throws is told to `onError` and holds nobody up. */
export function inProcessJobs(onError: (error: unknown) => void): JobPort {
  const lanes = new Map<string, Promise<unknown>>();
  return {
    start(lane, run, signal) {
      const before = lanes.get(lane) ?? Promise.resolve();
      const job = turnOf(before, signal).then(run).catch(onError);
      // One that ended early gives its place to nobody before the others ahead of it have ended.
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
