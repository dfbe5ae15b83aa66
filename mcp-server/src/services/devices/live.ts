import type { FrameSource } from "@labwright/controllers";
import type { CallContext, Clock, DeviceService } from "../ports.ts";
import { findPort, getPort } from "./portOf.ts";
import type { Recent, RecentPicture } from "./screen/recent.ts";
import { createWatching, type LivePictures } from "./screen/watching.ts";

/** Lends the pictures of a device to a person who looks; the device stays open until `done`. */
export type LiveFrames = {
  /**
   * `device_id` as any call takes it. Needs no lease. Video where the device sends it, else screenshots, at most 5 a second. Throws
   * DEVICE_NOT_FOUND, and CONTROLLER_UNAVAILABLE for a device that shows nothing.
   */
  watch(deviceId: string, context: CallContext): Promise<{ pictures: LivePictures; done(): void }>;
  /** The pictures of its last 5 minutes, oldest first; nothing is opened. Throws DEVICE_NOT_FOUND. */
  recent(deviceId: string): readonly RecentPicture[];
};

/** Full size: a frame is never enlarged. */
const format = { width: 7_680, height: 7_680, perSecond: 5, pixels: "jpeg" } as const;

export function createLive(
  devices: Pick<DeviceService, "acquire" | "open" | "find">,
  clock: Pick<Clock, "sleep">,
  recent: Pick<Recent, "of">,
): LiveFrames {
  const watchScreen = createWatching(clock);
  return {
    async watch(deviceId, context) {
      const { device, done } = await devices.acquire({ device_id: deviceId }, context, { drives: false });
      const capture = async (signal: AbortSignal) => {
        const screen = await getPort(await devices.open(device, signal), "screen", signal);
        return screen.capture({ format: "jpeg", highlight: true }, signal);
      };
      try {
        const opened = await devices.open(device, context.signal);
        const frames = await findPort(opened, "frames", context.signal);
        return { pictures: frames ? ofVideo(frames) : watchScreen(device.id, capture), done };
      } catch (error) {
        done();
        throw error;
      }
    },
    recent(deviceId) {
      const pictures = recent.of(deviceId);
      // A phone that was unplugged a moment ago is not listed any more.
      return pictures.length > 0 ? pictures : recent.of(devices.find(deviceId).id);
    },
  };
}

const ofVideo = (frames: FrameSource): LivePictures => ({
  latest: (signal) => frames.latest(signal),
  subscribe: (reader) => frames.subscribe(format, ({ bytes }) => reader({ bytes, mimeType: "image/jpeg" })),
});
