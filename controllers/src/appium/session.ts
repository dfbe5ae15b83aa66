import type { ControllerContext } from "../contract.ts";
import type { FocusMaps } from "../focus/focusMaps.ts";
import type { Hand } from "../screens/hand.ts";
import type { ScreenReader } from "../screens/reader.ts";
import type { AppiumDevice } from "./device.ts";
import type { DeviceLog } from "./log.ts";
import type { Pictures } from "./screen.ts";

/** What the hand of a device works with. */
export type AppiumParts = {
  device: AppiumDevice;
  reader: ScreenReader;
  pictures: Pictures;
  context: ControllerContext;
  focusMaps: FocusMaps;
  log: DeviceLog;
};
/** What the commands and checks of a device work with. */
export type AppiumSession = AppiumParts & { hand: Hand };

/** Sends an input to the device: what was seen of the screen counts no more, whatever comes of it. */
export async function input<T>(
  { reader }: Pick<AppiumSession, "reader">,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send();
  } finally {
    reader.driven();
  }
}
