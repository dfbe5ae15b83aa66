import { DeviceError } from "../errors.ts";
import type { FocusMaps } from "../focus/focusMaps.ts";
import { findKeyCode } from "../screens/androidKeys.ts";
import type { Hand, Pinch, Swipe } from "../screens/hand.ts";
import type { Point } from "../screens/pointing.ts";
import { DriverRefusal } from "./driver/program.ts";
import { type AndroidSession, sendInputs } from "./session.ts";

type Parts = Pick<AndroidSession, "device" | "reader" | "backend"> & { focusMaps: FocusMaps };

const key = (name: string, ...options: string[]): string[] => [
  "input",
  "keyevent",
  ...options,
  `${findKeyCode(name)}`,
];
export const pressOk = key("OK");
/** The back key hides a keyboard, and does nothing else while one is shown. */
export const hideKeyboard = key("BACK");
export const tapAt = ({ x, y }: Point): string[] => ["input", "tap", `${x}`, `${y}`];
const alongOf = ({ from, to, ms }: Swipe): string[] => [from.x, from.y, to.x, to.y, ms].map(String);
const swipeOf = (swipe: Swipe): string[] => ["input", "swipe", ...alongOf(swipe)];

/** The hand of an Android device: `input` of its shell, and the driver for two fingers. */
export function createHand(parts: Parts): Hand {
  const { device, reader, focusMaps } = parts;
  return {
    reader,
    focusMaps,
    isTv: () => device.facts().isTv,
    // The tree is in pixels.
    inTree: async (pixel) => pixel,
    press: (keys, signal) =>
      sendInputs(parts, [["input", "keyevent", ...keys.map((name) => `${findKeyCode(name)}`)]], signal),
    tap: (point, times, signal) => sendInputs(parts, Array<string[]>(times).fill(tapAt(point)), signal),
    hold: (point, ms, signal) => sendInputs(parts, [swipeOf({ from: point, to: point, ms })], signal),
    swipe: (swipe, signal) => sendInputs(parts, [swipeOf(swipe)], signal),
    drag: (swipe, signal) =>
      sendInputs(parts, [["input", "draganddrop", ...alongOf(swipe)]], signal, {
        timeoutMs: 15_000 + swipe.ms,
      }),
    pinch: (given, signal) => pinch(parts, given, signal),
    hideKeyboard: (signal) => sendInputs(parts, [hideKeyboard], signal),
    // How long a key is held, Android decides.
    holdOk: (_ms, signal) => sendInputs(parts, [key("OK", "--longpress")], signal),
  };
}

async function pinch({ backend, reader }: Parts, { area, zoom, percent }: Pinch, signal: AbortSignal) {
  const driver = await backend.session(signal);
  const { x: left, y: top, width, height } = area;
  const body = { area: { left, top, width, height }, percent: percent / 100 };
  try {
    await driver.ask("POST", `/appium/gestures/pinch_${zoom === "in" ? "open" : "close"}`, body, { signal });
  } catch (error) {
    throw error instanceof DriverRefusal ? refused(error) : error;
  } finally {
    reader.driven();
  }
}

const refused = ({ said }: DriverRefusal) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The device did not take the gesture: ${said.slice(0, 300)}. Look at the screen, and choose a larger element.`,
  );
