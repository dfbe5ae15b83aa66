import type { AndroidDevice } from "./device.ts";

/** A line for the device's shell; {@link keyboardIn} reads it. */
export const keyboardLine = "dumpsys input_method | grep -E 'mInputShown=|mIsInputViewShown='";

/**
 * Whether a keyboard is on the screen; undefined where the device does not say. A device with keys of its own says
 * `mInputShown=true` with nothing on the screen (appium-adb, pull request 56), and a keyboard that was hidden may still say
 * `mIsInputViewShown=true`.
 */
export function keyboardIn(text: string): boolean | undefined {
  const shown = /mInputShown=(true|false)/.exec(text)?.[1];
  return shown === undefined ? undefined : shown === "true" && !text.includes("mIsInputViewShown=false");
}

/** {@link keyboardIn}, asked now. */
export async function readKeyboard(device: AndroidDevice, signal: AbortSignal): Promise<boolean | undefined> {
  return keyboardIn((await device.link().script(keyboardLine, signal)).stdout);
}
