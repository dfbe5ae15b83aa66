import type { z } from "zod";
import { type Check, type ControllerContext, defineCheck, type ReadOptions } from "../contract.ts";
import { inconclusive, ofSubject } from "../elements/readings.ts";
import { framesOf, latestDelayMs } from "../frames/available.ts";
import type { Moment, VideoFrame } from "../ports.ts";
import { actualOf, evidence, findIn, type Wish } from "./imageJudge.ts";
import { judge, Seen } from "./seen.ts";

/** What was seen of a reference since an input: until when frames were looked at, and when it was first there. */
type Sight = { since: Moment; lookedUntil: Moment; shownAt?: Moment };
type Input = z.ZodObject & z.ZodType<Omit<Wish, "most">>;

const mostSights = 20;
/** Of the frames that came since the last reading, evenly picked. */
const mostFrames = 25;

/**
 * Spans time, although a reading judges one moment: what was seen since the last input, or since the check's first reading, is
 * kept from one reading to the next, and the frames in between are taken from the device's last seconds.
 */
export function shownThenGone(context: ControllerContext, input: Input): Check {
  const sights = new Map<string, Sight>();
  const sightOf = (key: string, since: Moment): Sight => {
    const known = sights.get(key);
    const sight =
      known?.since === since ? known : { since, lookedUntil: since + latestDelayMs(context.device) };
    sights.delete(key);
    sights.set(key, sight);
    for (const old of [...sights.keys()].slice(0, -mostSights)) sights.delete(old);
    return sight;
  };
  return defineCheck({
    name: "image_shown_then_gone",
    description:
      "A reference was on the screen after the last input, or since the check began, and is there no more",
    byPicture: true,
    judges: ofSubject,
    input,
    read(wish, signal, look = {}) {
      const expected = `"${wish.reference}" was shown and is gone`;
      const { since } = look;
      if (since === undefined)
        return Promise.resolve(
          inconclusive(expected, "it is not known since when it counts: poll the check"),
        );
      return judge(context, { expected, look, signal }, async (seen) => {
        const sight = sightOf(JSON.stringify(wish), since);
        const options = { ms: look.ms, signal };
        const before = framesBetween(context, sight, seen.arrivedAt, look);
        await lookThrough(before, sight, async (frame) => {
          const { places } = await findIn(context, new Seen(frame), { ...wish, most: 1 }, options);
          return places.length > 0;
        });
        const found = await findIn(context, seen, { ...wish, most: 1 }, options);
        const isThere = found.places.length > 0;
        sight.lookedUntil = Math.max(sight.lookedUntil, seen.arrivedAt);
        if (isThere) sight.shownAt ??= seen.arrivedAt;
        const holds = sight.shownAt !== undefined && !isThere;
        return {
          holds,
          expected,
          actual: sayOf(sight, isThere, actualOf(found)),
          ...(await evidence(found)),
        };
      });
    },
  });
}

/** Until the reference is seen for the first time. */
async function lookThrough(
  frames: readonly VideoFrame[],
  sight: Sight,
  isIn: (frame: VideoFrame) => Promise<boolean>,
): Promise<void> {
  for (const frame of frames) {
    if (sight.shownAt !== undefined) return;
    if (await isIn(frame)) sight.shownAt = frame.arrivedAt;
    sight.lookedUntil = frame.arrivedAt;
  }
}

/** Those of the device's last seconds that were not looked at yet. None where the device sends no frames. */
function framesBetween(
  { device }: ControllerContext,
  { lookedUntil }: Sight,
  until: Moment,
  { frame: given }: ReadOptions,
): readonly VideoFrame[] {
  const ring = framesOf(device)?.ring(lookedUntil) ?? [];
  const last = given?.arrivedAt ?? until;
  const between = ring.filter(({ arrivedAt }) => arrivedAt > lookedUntil && arrivedAt < last);
  const step = Math.max(1, between.length / mostFrames);
  return between.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

function sayOf({ shownAt, since }: Sight, isThere: boolean, found: string): string {
  if (shownAt === undefined) return `it was not shown: ${found}`;
  const seconds = Math.round((shownAt - since) / 100) / 10;
  return isThere ? `it is still there: ${found}` : `it was there after ${seconds} s and is gone`;
}
