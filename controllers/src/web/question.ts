import { DeviceError } from "../errors.ts";
import { asDeviceError } from "./failures.ts";
import type { DrivenSession } from "./session.ts";
import { withDeadline } from "./waiting.ts";

/**
 * What a page is asked that changes nothing, within a deadline. `what` names it in errors, and `silence` is what a page has
 * not done that keeps still, as in "gave no picture". Throws COMMAND_TIMEOUT.
 */
export async function askWithin<T>(
  session: DrivenSession,
  question: { what: string; silence: string; ms: number; signal: AbortSignal },
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { what, silence, ms, signal } = question;
  const deadline = withDeadline(signal, ms);
  try {
    return await ask(deadline.signal);
  } catch (error) {
    if (deadline.over()) {
      throw new DeviceError(
        "COMMAND_TIMEOUT",
        `The page ${silence} within ${ms} ms. Its script may be busy; try again or reload.`,
      );
    }
    throw asDeviceError(error, {
      command: what,
      timeoutMs: ms,
      signal,
      isAlive: () => session.isAlive(),
      wasDenied: () => false,
    });
  } finally {
    deadline.done();
  }
}
