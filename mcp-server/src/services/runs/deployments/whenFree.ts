import { ToolError } from "../../../errors.ts";
import type { CallContext, Clock, DeviceService, Grant } from "../../ports.ts";

/** A lease that ends tells nobody, so its end is asked for. */
const askEveryMs = 2_000;

/**
 * Takes a device, and waits for whoever holds it, never by force. Throws DEVICE_HELD, which names the holder, when that
 * takes longer than `timeoutMs`; else what `acquire` throws.
 */
export async function whenFree(
  deviceId: string,
  context: CallContext,
  deps: { devices: Pick<DeviceService, "acquire">; clock: Clock; timeoutMs: number },
): Promise<Grant> {
  const { devices, clock, timeoutMs } = deps;
  const until = clock.monotonic() + timeoutMs;
  for (;;) {
    try {
      return await devices.acquire({ device_id: deviceId }, context, { drives: true });
    } catch (error) {
      const isHeld = error instanceof ToolError && error.code === "DEVICE_HELD";
      if (!isHeld || clock.monotonic() >= until) throw error;
    }
    await clock.sleep(Math.min(askEveryMs, until - clock.monotonic()), context.signal);
  }
}
