import type { z } from "zod";
import { unsent } from "../dispatch.ts";
import { DeviceError, type DeviceErrorCode } from "../errors.ts";
import type { WireAnswer } from "./client.ts";

const longest = 400;
const longestCode = 100;
const cut = (text: string) => text.split("\n", 3).join(" ").trim().slice(0, longest);

/** Protocol and host only: the rest of an address may hold a key. */
export const originOf = (url: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
};

export const unreachable = (url: string, said: string) =>
  /Could not parse response body/.test(said)
    ? noServer(url)
    : new DeviceError(
        "DEVICE_OFFLINE",
        `The Appium server at ${originOf(url)} cannot be reached (${reasonOf(said)}). Start it, or correct controllers.appium.url of the device.`,
      );

const noServer = (url: string) =>
  new DeviceError(
    "DEVICE_OFFLINE",
    `The server at ${originOf(url)} is not an Appium server. Correct controllers.appium.url of the device, including its path.`,
  );

/** An answer that is not used, since it is too large, leads elsewhere or is of another type. */
export const badAnswer = (command: string, problem: string, url?: string): DeviceError =>
  new DeviceError(
    "DEVICE_ERROR",
    `The Appium server${url === undefined ? "" : ` at ${originOf(url)}`} answered ${command} with ${problem}, so the answer was not used. Restart the server or update its driver, or correct controllers.appium.url of the device.`,
  );

/** The answer of a server to `command` by its schema. Throws DEVICE_ERROR for one of another type. */
export function answerAs<T>(schema: z.ZodType<T>, command: string, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw badAnswer(command, "a value of another type");
}

/** The network's error code in a sentence of the client. */
function reasonOf(said: string): string {
  const code = /\b(?:E[A-Z]{4,}|UND_ERR\w+|CERT_\w+|DEPTH_ZERO\w+)\b/.exec(said)?.[0];
  if (code !== undefined) return code;
  return /Unable to connect|Failed to fetch|fetch failed/i.test(said)
    ? "it refuses connections"
    : cut(said.replace(/https?:\/\/[^\s"]+/g, "its address"));
}

export const tooSlow = (url: string, seconds: number) =>
  new DeviceError(
    "DEVICE_OFFLINE",
    `The Appium server at ${originOf(url)} opened no session within ${seconds} s. See its log: it may wait for a device that is busy or not there.`,
  );

export const connectionLost = (url: string) =>
  new DeviceError(
    "TRANSPORT_LOST",
    `The connection to the Appium server at ${originOf(url)} broke, so it is not known whether the device did what was asked. Nothing is repeated: look at the screen, then go on.`,
  );

export const noAnswer = (url: string, seconds: number) =>
  new DeviceError(
    "TRANSPORT_LOST",
    `The Appium server at ${originOf(url)} did not answer within ${seconds} s. Look at the screen, then go on; see the log of the server if this comes again.`,
  );

export const sessionEnded = (url: string) =>
  unsent(
    new DeviceError(
      "TRANSPORT_LOST",
      `The session at ${originOf(url)} expired (idle too long). Nothing was sent; the next call opens a new one.`,
    ),
  );

const noDevice =
  /not in the list of connected|find a connected|Unknown device|No device matching|no matching device/i;
const inUse = /is in use|already in use|device is busy|maximum number of .*sessions/i;
const noApp =
  /bundle identifier .* unknown|does not exist or is not accessible|Cannot start the|not installed|supposed to be preinstalled/i;

export function notOpened(url: string, { status, message = "it gave no reason" }: WireAnswer): DeviceError {
  if (status === 401 || status === 403)
    return new DeviceError(
      "DEVICE_UNAUTHORIZED",
      `The server at ${originOf(url)} does not accept the user or key (HTTP ${status}). Correct them in the device's url or capabilities.`,
    );
  if (inUse.test(message))
    return new DeviceError(
      "DEVICE_BUSY",
      `Another session uses the device of the server at ${originOf(url)}: ${cut(message)}. Wait until it is free, or end the other session.`,
    );
  if (noDevice.test(message))
    return new DeviceError(
      "DEVICE_NOT_FOUND",
      `The server at ${originOf(url)} has no such device: ${cut(message)}. Connect it, or correct appium:udid.`,
    );
  if (noApp.test(message))
    return new DeviceError(
      "APP_NOT_INSTALLED",
      `The server at ${originOf(url)} cannot open the app: ${cut(message)}. Install it, or correct app, appium:bundleId or appium:appPackage.`,
    );
  // WebdriverIO refuses it before it asks the server.
  const [, bare] = /unsupported WebDriver capabilities found \("(\w+)/.exec(message) ?? [];
  if (bare !== undefined)
    return new DeviceError(
      "DEVICE_ERROR",
      `The capability ${bare} needs a vendor prefix. Write appium:${bare} in controllers.appium.capabilities.`,
    );
  return new DeviceError(
    "DEVICE_ERROR",
    `The server at ${originOf(url)} opened no session: ${cut(message)}. Correct the capabilities of the device.`,
  );
}

/** The server has lost its device, so the session cannot go on. */
const deviceGone =
  /instrumentation process is not running|cannot be proxied|socket hang up|WebDriverAgent.*not (?:running|reachable)/i;

export const isSessionEnd = ({ error, message = "" }: WireAnswer): boolean =>
  error === "invalid session id" || deviceGone.test(message);

/** The error of a refusal, with W3C's error code as `wire_error`. */
export function refused(command: string, { error = "", message = "" }: WireAnswer): DeviceError {
  const refusal = (code: DeviceErrorCode, says: string) =>
    new DeviceError(code, says, { wire_error: error.slice(0, longestCode) });
  if (error === "unknown command" || error === "unknown method")
    return unsent(
      refusal(
        "DEVICE_ERROR",
        `The server does not know ${command}: ${cut(message)}. Do it another way, or use a newer driver on the server.`,
      ),
    );
  if (/secure|capture screen/i.test(`${error} ${message}`))
    return refusal(
      "SECURE_SCREEN",
      "The app in front forbids pictures of its screen, so there is none. Read its elements with dump_ui_elements.",
    );
  if (/waiting for root AccessibilityNodeInfo/.test(message))
    return refusal(
      "TREE_EMPTY",
      "The device reported no elements on this screen. Wait until the app shows something, or use capture_screenshot.",
    );
  return refusal(
    "DEVICE_ERROR",
    `The server refused ${command}: ${cut(message || error)}. Look at the screen with capture_screenshot.`,
  );
}
