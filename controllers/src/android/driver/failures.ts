import { DeviceError } from "../../errors.ts";
import type { Link } from "../link.ts";
import { DriverRefusal } from "./program.ts";

/** Android prints a line while any program holds its UiAutomation (AOSP, UiAutomationManager). */
export const ownerLine = "dumpsys accessibility | grep 'Ui Automation\\['";
export const saysOwner = (stdout: string): boolean => stdout.includes("Ui Automation[");

const ownerMs = 5_000;
const others = "another program (Appium, another Labwright, another test tool)";

export async function hasOwner(link: Link, signal: AbortSignal): Promise<boolean> {
  const { stdout } = await link.script(ownerLine, signal, { timeoutMs: ownerMs });
  return saysOwner(stdout);
}

export const uiaBusy = (): DeviceError =>
  new DeviceError(
    "UIA_BUSY",
    "Another program reads the elements of this device (Appium, another Labwright, another test tool), and Android lets one do so. End it, then try again.",
  );

/** Another program took our session. */
export const uiaTaken = (cause: unknown): DeviceError =>
  new DeviceError(
    "UIA_BUSY",
    `UiAutomator2 was ended by ${others}, which reads the elements of this device now, so it is not known whether that was done. End that program. The next dump of the screen takes its place once, and not again while it goes on.`,
    {},
    { cause },
  );

/** The device's note after our session replaced another one. */
export const tookOver = `UiAutomator2 took the place of ${others} that read its elements, and ended it.`;

/** The driver's words when its server on the device is gone or hangs. */
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
