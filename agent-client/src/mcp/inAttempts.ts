import { setTimeout as pause } from "node:timers/promises";

/** Runs it again while `may` says so, `left` times in all, waiting twice as long each time. */
export async function inAttempts<T>(
  run: () => Promise<T>,
  given: { left: number; pauseMs: number; may(error: unknown): boolean },
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (given.left <= 1 || !given.may(error)) throw error;
    await pause(given.pauseMs);
    return inAttempts(run, { ...given, left: given.left - 1, pauseMs: 2 * given.pauseMs });
  }
}
