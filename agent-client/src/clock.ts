import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "./ports.ts";

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => pause(ms, undefined, { ref: false, ...(signal && { signal }) }),
};

/**
 * What `work` comes to, if it does so in time. Throws `late()` when it does not, and the signal's reason when that aborts;
 * work is then stopped by its own signal, and not waited for.
 */
export async function within<T>(
  ms: number,
  { signal, clock, late }: { signal: AbortSignal; clock: Clock; late(): Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const over = new AbortController();
  const ended = new AbortController();
  const stop = () => ended.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  clock.sleep(ms, over.signal).then(
    () => ended.abort(late()),
    () => undefined,
  );
  const stopped = new Promise<never>((_, reject) => {
    ended.signal.addEventListener("abort", () => reject(ended.signal.reason), { once: true });
  });
  try {
    return await Promise.race([work(ended.signal), stopped]);
  } finally {
    over.abort();
    signal.removeEventListener("abort", stop);
  }
}

/** Like AbortSignal.any with a timeout. Node collects a timeout that only AbortSignal.any knows; the listener holds it. */
export function atMost(signal: AbortSignal, ms: number): AbortSignal {
  const late = AbortSignal.timeout(ms);
  late.addEventListener("abort", () => undefined, { once: true });
  return AbortSignal.any([signal, late]);
}
