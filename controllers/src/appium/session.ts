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
