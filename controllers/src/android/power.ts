import { findKeyCode } from "../screens/androidKeys.ts";
import type { AndroidDevice } from "./device.ts";

/** A line for the device's shell that says whether its screen is on; {@link isDarkIn} reads it. */
export const powerLine = "dumpsys power | grep mWakefulness=";

/** Asleep, or Dozing with a clock on a dark screen; a screen saver (Dreaming) is a picture (PowerManagerInternal). */
export const isDarkIn = (text: string): boolean => /mWakefulness=(?:Asleep|Dozing)/.test(text);

/** Switches the screen on, and takes away a lock screen that asks for nothing; does nothing where it is on. */
export async function wake(device: AndroidDevice, signal: AbortSignal): Promise<void> {
  const link = device.link();
  if (!isDarkIn((await link.script(powerLine, signal)).stdout)) return;
  await link.runAll(
    [
      ["input", "keyevent", `${findKeyCode("WAKEUP")}`],
      ["wm", "dismiss-keyguard"],
    ],
    signal,
  );
}
