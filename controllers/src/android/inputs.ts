import { DeviceError } from "../errors.ts";
import { findKeyCode } from "../phones/androidKeys.ts";
import type { Point } from "../screens/input.ts";
import type { Keys } from "../screens/keys.ts";
import type { Pinch, Swipe, Touch } from "../screens/touch.ts";
import { DriverRefusal } from "./driver/program.ts";
import { type AndroidSession, sendInputs } from "./session.ts";

type Parts = Pick<AndroidSession, "device" | "reader" | "backend">;

/** `input keyevent` takes several keys and presses them one by one. */
const mostAtOnce = 50;

export const keyInput = (names: readonly string[], ...options: string[]): string[] => [
  "input",
  "keyevent",
  ...options,
  ...names.map((name) => `${findKeyCode(name)}`),
];
export function presses(key: string, count: number): string[][] {
  const inputs: string[][] = [];
  for (let left = count; left > 0; left -= mostAtOnce)
    inputs.push(keyInput(Array<string>(Math.min(left, mostAtOnce)).fill(key)));
  return inputs;
}
/** The back key hides a keyboard, and does nothing else while one is shown. */
export const hideKeyboard = keyInput(["BACK"]);
export const tapAt = ({ x, y }: Point): string[] => ["input", "tap", `${x}`, `${y}`];
const along = (kind: string, { from, to, ms }: Swipe): string[] => [
  ...["input", kind],
  ...[from.x, from.y, to.x, to.y, ms].map(String),
];

export function createTouch(parts: Parts): Touch {
  return {
    natural: () => parts.device.facts().screen,
    // The tree is in pixels.
    inTree: async (pixel) => pixel,
    tap: (point, times, signal) => sendInputs(parts, Array<string[]>(times).fill(tapAt(point)), signal),
    hold: (point, ms, signal) => sendInputs(parts, [along("swipe", { from: point, to: point, ms })], signal),
    swipe: (swipe, signal) => sendInputs(parts, [along("swipe", swipe)], signal),
    drag: (swipe, signal) =>
      sendInputs(parts, [along("draganddrop", swipe)], signal, { timeoutMs: 15_000 + swipe.ms }),
    pinch: (given, signal) => pinch(parts, given, signal),
    hideKeyboard: (signal) => sendInputs(parts, [hideKeyboard], signal),
  };
}

export const createKeys = (parts: Parts): Keys => ({
  press: (keys, signal) => sendInputs(parts, [keyInput(keys)], signal),
  // How long a key is held, Android decides.
  holdOk: (_ms, signal) => sendInputs(parts, [keyInput(["OK"], "--longpress")], signal),
});

async function pinch({ backend, reader }: Parts, { area, zoom, percent }: Pinch, signal: AbortSignal) {
  const driver = await backend.session(signal);
  const { x: left, y: top, width, height } = area;
  const body = { area: { left, top, width, height }, percent: percent / 100 };
  const gesture = `/appium/gestures/pinch_${zoom === "in" ? "open" : "close"}`;
  try {
    await reader.send(() => driver.ask("POST", gesture, body, { signal }));
  } catch (error) {
    if (!(error instanceof DriverRefusal)) throw error;
    throw new DeviceError(
      "DEVICE_ERROR",
      `The device did not take the gesture: ${error.said.slice(0, 300)}. Look at the screen, and choose a larger element.`,
    );
  }
}
