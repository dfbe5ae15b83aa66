import type { DevicePorts } from "../contract.ts";
import type { Rect } from "../shapes.ts";
import { Seen } from "../vision/seen.ts";
import { inPixels, type Reader } from "./area.ts";

/** The text below the area that was judged, or above it where there is more room. Undefined where there is none. */
export async function banner(
  device: Pick<DevicePorts, "frames">,
  judged: Rect,
  read: Reader,
  signal: AbortSignal,
): Promise<string | undefined> {
  const below = 1 - judged.y - judged.height;
  const rest =
    below >= judged.y ? { y: judged.y + judged.height, height: below } : { y: 0, height: judged.y };
  if (rest.height < 0.02) return undefined;
  const seen = new Seen(await device.frames().latest(signal));
  const lines = await read(seen, inPixels({ x: 0, width: 1, ...rest }, seen.space), signal);
  return lines.length > 0 ? lines.join(" / ") : undefined;
}
