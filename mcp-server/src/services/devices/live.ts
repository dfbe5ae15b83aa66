import type { FrameSource } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { CallContext, DeviceService } from "../ports.ts";
import { findPort, missing } from "./portOf.ts";

/** Lends the frames of a device to a person who looks; the device stays open until `done`. */
export type LiveFrames = {
  /**
   * `device_id` as any call takes it. Needs no lease. Throws DEVICE_NOT_FOUND, CONTROLLER_UNAVAILABLE, and COMMAND_UNSUITABLE for a
   * device that sends no frames.
   */
  watch(deviceId: string, context: CallContext): Promise<{ frames: FrameSource; done(): void }>;
};

export const createLive = (devices: Pick<DeviceService, "acquire" | "open">): LiveFrames => ({
  async watch(deviceId, context) {
    const { device, done } = await devices.acquire({ device_id: deviceId }, context, { drives: false });
    try {
      const opened = await devices.open(device, context.signal);
      const frames = await findPort(opened, "frames", context.signal);
      if (frames) return { frames, done };
      throw new ToolError(
        "COMMAND_UNSUITABLE",
        missing(opened, "frames"),
        "Take screenshots of it with take_screenshot, or add controllers.av to it.",
      );
    } catch (error) {
      done();
      throw error;
    }
  },
});
