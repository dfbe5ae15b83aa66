import type { DevicePorts } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { FrameSource, StreamSource } from "../ports.ts";

/** The frames of a device; undefined where none can be had now. */
export const framesOf = ({ frames }: Pick<DevicePorts, "frames">): FrameSource | undefined => orNone(frames);

/** What its capture knows of the stream; undefined where none can be had now. */
export const streamOf = ({ stream }: Pick<DevicePorts, "stream">): StreamSource | undefined => orNone(stream);

/** How many milliseconds before its arrival a frame was on the screen, at most. */
export function latestDelayMs(device: Pick<DevicePorts, "stream">): number {
  const { ms = 0, errorMs = 0 } = streamOf(device)?.delay ?? {};
  return ms + errorMs;
}

function orNone<Port>(get: () => Port): Port | undefined {
  try {
    return get();
  } catch (error) {
    if (error instanceof DeviceError) return undefined;
    throw error;
  }
}
