import { type Clock, ToolFailure } from "@labwright/agent-client";

/** Resolves after the time, or at once when the signal aborts. */
export async function rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await clock.sleep(ms, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Something to wait for that may ring before anyone waits. */
export function bell() {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    /** Resolves when it has rung since the last time, after `ms`, or when the signal aborts. */
    async heard(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
      await rest(clock, ms, AbortSignal.any([signal, rung.signal]));
      rung = new AbortController();
    },
  };
}

/** A tool that failed has its code and hint in it. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ToolFailure)) return error instanceof Error ? error.message : String(error);
  return `${error.code}: ${error.message} ${error.hint}`.trim().slice(0, 500);
}
