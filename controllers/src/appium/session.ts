import type { ControllerContext } from "../contract.ts";
import type { Changes } from "../phones/changes.ts";
import type { Phone } from "../phones/commands.ts";
import type { ScreenReader } from "../screens/reader.ts";
import type { AppiumDevice } from "./device.ts";
import type { DeviceLog } from "./log.ts";
import type { Pictures } from "./screen.ts";

export type AppiumParts = {
  device: AppiumDevice;
  reader: ScreenReader;
  pictures: Pictures;
  context: ControllerContext;
  log: DeviceLog;
  changes: Changes;
};
export type AppiumSession = AppiumParts & Phone;

/** Sends something to the device: what was seen of the screen counts no more, whatever comes of it. */
export async function sending<T>(
  { reader }: Pick<AppiumSession, "reader">,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send();
  } finally {
    reader.driven();
  }
}
