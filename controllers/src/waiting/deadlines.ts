/** The result of `work`, or a rejection with the signal's reason as soon as it aborts; `work` is then left behind. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever left it behind does not hear how it ends.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}

/** Says whether `work` ended well or badly within `ms`; it is left behind when it did not. */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  return await Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

/** A signal that aborts with `signal` or after `ms`. `over` says that it was the time. Call `done` when finished. */
export function withDeadline(signal: AbortSignal, ms: number) {
  const controller = new AbortController();
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    controller.abort(new DOMException(`not done within ${ms} ms`, "TimeoutError"));
  }, ms);
  const follow = () => controller.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    over: () => over,
    done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", follow);
    },
  };
}

/** Like AbortSignal.any with a timeout. The listener keeps Node from collecting the timeout too early. */
export function atMost(signal: AbortSignal, ms: number): AbortSignal {
  const late = AbortSignal.timeout(ms);
  late.addEventListener("abort", () => undefined, { once: true });
  return AbortSignal.any([signal, late]);
}

/** Asks `ready` until it says yes: true then, false when `ms` are over. Rejects when `signal` aborts. */
export async function poll(
  ready: () => Promise<boolean>,
  options: { everyMs: number; ms: number; signal: AbortSignal },
): Promise<boolean> {
  const until = performance.now() + options.ms;
  for (;;) {
    if (await untilAborted(ready(), options.signal)) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await pause(Math.min(options.everyMs, left), options.signal);
  }
}

/** Rejects when `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const pausing = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await untilAborted(pausing, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs work one after another. A failure stops none that follows. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
