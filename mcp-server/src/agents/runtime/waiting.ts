import type { Clock } from "@labwright/agent-client";

/** Resolves after the time, or at once when the signal aborts. */
export async function rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await clock.sleep(ms, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Something to wait for that may be raised before anyone waits. */
export function bell() {
  let isUp = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      isUp = true;
      wake?.();
    },
    /** Whether it rang since the last time. */
    rang(): boolean {
      const was = isUp;
      isUp = false;
      return was;
    },
    /** Resolves when it rang since the last time, after `ms`, or when the signal aborts. */
    async heard(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
      if (!isUp && !signal.aborted) {
        const over = new AbortController();
        wake = () => over.abort();
        await rest(clock, ms, AbortSignal.any([signal, over.signal]));
        wake = undefined;
      }
      isUp = false;
    },
  };
}

/** Does `step` again and again until the signal aborts; after a failure, which is told, it rests first. */
export async function repeat(
  step: () => Promise<void>,
  {
    clock,
    signal,
    restMs,
    onFault,
  }: { clock: Clock; signal: AbortSignal; restMs: number; onFault(error: unknown): void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) return;
      onFault(error);
      await rest(clock, restMs, signal);
    }
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
