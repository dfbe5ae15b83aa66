import type { AndroidDevice } from "./device.ts";

/** Whether a keyboard is on the screen; undefined where the device does not say. */
export async function readKeyboard(device: AndroidDevice, signal: AbortSignal): Promise<boolean | undefined> {
  const { stdout } = await device.link().script("dumpsys input_method | grep mInputShown=", signal);
  const shown = /mInputShown=(true|false)/.exec(stdout)?.[1];
  return shown === undefined ? undefined : shown === "true";
}
