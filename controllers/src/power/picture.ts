import type { ControllerContext } from "../contract.ts";
import { framesOf } from "../frames/available.ts";
import type { FrameSource, Moment, VideoFrame } from "../ports.ts";
import { poll } from "../waiting/deadlines.ts";

/** A source that sends nothing for so long has lost its picture; at least three frames of a slow one. */
const goneMs = 1_500;
/** Of 255. Video's black is 16. */
const blackUpTo = 32;
/** Of 255. A capture card without a signal sends one colour. */
const plainUpTo = 16;
export const watchedPerSecond = 10;

/** Watches the picture of the device that an outlet feeds: that it goes, then that it is back. */
export type PictureWatch = {
  /** From now on the outlet is on, and a picture counts as back. */
  fed(): void;
  /** When the first picture after `fed` came; undefined when there was none within `ms`. Rejects when `signal` aborts. */
  back(ms: number, signal: AbortSignal): Promise<Moment | undefined>;
  /** Whether it was gone: black, of one colour, or no frame. */
  isGone(): boolean;
  end(): void;
};

export function watchPicture(frames: FrameSource): PictureWatch {
  const since = performance.now();
  let [lastFrameAt, fedFrom] = [since, Number.POSITIVE_INFINITY];
  let isGone = false;
  let backAt: Moment | undefined;
  const quietMs = Math.max(goneMs, 3_000 / frames.perSecond);
  const noteGap = () => {
    isGone ||= performance.now() - lastFrameAt > quietMs;
  };
  const see = ({ arrivedAt, bytes }: VideoFrame) => {
    if (arrivedAt < since) return;
    noteGap();
    lastFrameAt = arrivedAt;
    if (isPlain(bytes)) isGone = true;
    else if (isGone && arrivedAt >= fedFrom) backAt ??= arrivedAt;
  };
  const format = { width: 64, height: 36, perSecond: watchedPerSecond, pixels: "gray" } as const;
  const subscription = frames.subscribe(format, see);
  subscription.ended.catch(() => undefined);
  return {
    fed: () => {
      fedFrom = performance.now();
    },
    async back(ms, signal) {
      const isBack = async () => {
        noteGap();
        return backAt !== undefined;
      };
      await poll(isBack, { everyMs: 50, ms, signal });
      return backAt;
    },
    isGone: () => isGone,
    end: () => subscription.end(),
  };
}

function isPlain(bytes: Uint8Array): boolean {
  let [least, most] = [255, 0];
  for (const value of bytes) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return most <= blackUpTo || most - least <= plainUpTo;
}

/** The frames to watch; undefined for a device without them. `wanted` throws CONTROLLER_UNAVAILABLE then. */
export function framesToWatch({ device }: Pick<ControllerContext, "device">, wanted: boolean | undefined) {
  if (wanted === false) return undefined;
  return wanted === true ? device.frames() : framesOf(device);
}
