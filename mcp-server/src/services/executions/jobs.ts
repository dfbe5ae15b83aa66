/** Runs jobs, one at a time for each `lane` (a device), in the order in which they came. */
export type JobPort = {
  /** True when a job of the lane runs or waits, so that another would wait. */
  isBusy(lane: string): boolean;
  start(lane: string, run: () => Promise<void>): void;
  /** Resolves when nothing runs or waits. */
  settled(): Promise<void>;
};

/** Jobs of this process. A job that throws is told to `onError` and holds nobody up. */
export function inProcessJobs(onError: (error: unknown) => void): JobPort {
  const lanes = new Map<string, Promise<void>>();
  return {
    isBusy: (lane) => lanes.has(lane),
    start(lane, run) {
      const before = lanes.get(lane) ?? Promise.resolve();
      const job = before.then(run).catch(onError);
      lanes.set(lane, job);
      void job.then(() => {
        if (lanes.get(lane) === job) lanes.delete(lane);
      });
    },
    async settled() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
