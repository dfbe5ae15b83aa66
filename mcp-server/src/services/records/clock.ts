import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../ports.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.floor(performance.now()),
  setTimeout(run, ms) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  async sleep(ms, signal) {
    await pause(ms, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  },
};
