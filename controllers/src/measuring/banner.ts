import type { ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { Rect } from "../shapes.ts";
import { Seen } from "../vision/seen.ts";
import { pause } from "../waiting/deadlines.ts";
import { inPixels } from "./area.ts";
import { legible } from "./legible.ts";

/** Some boxes show their banner a second after the picture. */
const bannerMs = 2_000;
const pauseMs = 300;

export type Banner = { banner: string } | { banner_unread: string };

/**
 * The text below the area that was judged, or above it where there is more room: the first that is there within two seconds. The reason
 * where it cannot be read.
 */
export async function readBanner(
  context: ControllerContext,
  judged: Rect,
  languages: readonly string[],
  signal: AbortSignal,
): Promise<Banner> {
  const end = judged.y + judged.height;
  const rest = 1 - end >= judged.y ? { y: end, height: 1 - end } : { y: 0, height: judged.y };
  if (rest.height < 0.02) return { banner_unread: "the area that is judged leaves no room for it" };
  const until = performance.now() + bannerMs;
  try {
    for (;;) {
      const seen = new Seen(await context.device.frames().latest(signal));
      const area = inPixels({ x: 0, width: 1, ...rest }, seen.space);
      const lines = await legible(context, seen, { area, languages }, signal);
      if (lines.length > 0) return { banner: lines.join(" / ") };
      if (performance.now() >= until) return { banner_unread: "no text there" };
      await pause(pauseMs, signal);
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof DeviceError)) throw error;
    return { banner_unread: error.message };
  }
}
