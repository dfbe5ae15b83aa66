import type { ScreenSource } from "../contract.ts";
import type { PictureSource } from "../video/recorder.ts";
import type { AndroidDevice } from "./device.ts";
import { readMjpeg } from "./mjpeg.ts";
import type { UiBackend } from "./ui/backend.ts";

/** In percent of the screen's size, and of JPEG's quality. */
const stream = { mjpegServerFramerate: 10, mjpegScalingFactor: 50, mjpegServerScreenshotQuality: 70 };

/** Pictures for a recording: the driver's stream, else screencap. */
export const picturesOf = (
  device: AndroidDevice,
  backend: UiBackend,
  screen: ScreenSource,
): PictureSource => ({
  screen,
  isAlive: () => device.isAlive(),
  async prepare(signal) {
    if (backend.whyNoSession() !== undefined) return;
    try {
      const session = await backend.session(signal);
      await session.ask("POST", "/appium/settings", { settings: stream }, { signal });
    } catch {
      signal.throwIfAborted();
    }
  },
  async stream(seen, signal) {
    const session = backend.findSession();
    return session === undefined ? 0 : await readMjpeg(session.mjpegPort, seen, signal);
  },
});
