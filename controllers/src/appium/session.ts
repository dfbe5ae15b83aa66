import type { CommandResult, ControllerContext } from "../contract.ts";
import type { FocusMaps } from "../focus/focusMaps.ts";
import type { ScreenReader } from "../screens/reader.ts";
import type { AppiumDevice } from "./device.ts";
import type { Pictures } from "./screen.ts";

/** What the commands and checks of a device work with. */
export type AppiumSession = {
  device: AppiumDevice;
  reader: ScreenReader;
  pictures: Pictures;
  context: ControllerContext;
  focusMaps: FocusMaps;
};

/** Sends an input to the device: what was seen of the screen counts no more, whatever comes of it. */
export async function input<T>({ reader }: AppiumSession, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } finally {
    reader.driven();
  }
}

/** A command whose last input has just been taken by the device. */
export const sent = (message: string): CommandResult => ({ message, sentAt: performance.now() });
