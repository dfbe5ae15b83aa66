import type { ControllerContext, Reading } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Sound, StreamSource } from "../ports.ts";

/** A reading that cannot be judged, and why. */
export const unsure = (expected: string, inconclusive: string): Reading => ({
  ...{ expected, actual: "unknown", holds: false, inconclusive },
});

/** The stream, or why there is nothing to judge. */
export function streamOf({ device }: ControllerContext): StreamSource | string {
  try {
    const stream = device.stream();
    return stream.hasSound() === false ? "the source has no sound track" : stream;
  } catch (error) {
    if (error instanceof DeviceError) return error.message;
    throw error;
  }
}

/** Has `judge` read what is heard from now on. What cannot be heard, or recognised here, is inconclusive. */
export async function listened(
  context: ControllerContext,
  { expected, ms }: { expected: string; ms: number },
  judge: (sound: Sound) => Promise<Reading>,
  signal: AbortSignal,
): Promise<Reading> {
  const stream = streamOf(context);
  if (typeof stream === "string") return unsure(expected, stream);
  try {
    return await judge(await stream.listen(ms, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DeviceError && unjudged.has(error.code)) return unsure(expected, error.message);
    throw error;
  }
}

const unjudged: ReadonlySet<string> = new Set([
  ...["DEVICE_ERROR", "NO_SIGNAL", "COMMAND_TIMEOUT"],
  ...["ADDON_MISSING", "ADDON_UNUSABLE"],
]);
