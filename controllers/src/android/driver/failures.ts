import { DeviceError } from "../../errors.ts";
import { DriverRefusal } from "./program.ts";

/** What the driver says when its server on the device is no more, or never answers again. */
const broken =
  /instrumentation process is not running|Could not proxy command|socket hang up|ECONNREFUSED|ECONNRESET|invalid session id|session is either terminated/i;

export const isSessionOver = (error: unknown): boolean =>
  error instanceof DriverRefusal && broken.test(error.said);

export const crashed = (cause: unknown): DeviceError =>
  new DeviceError(
    "UIA_CRASHED",
    "UiAutomator2 ended on the device or did not answer, so it is not known whether that was done. Look at the screen; the next call starts it again.",
    {},
    { cause },
  );
