import { DeviceError } from "../errors.ts";
import { nearest } from "./nearest.ts";

/** Names of keys that every device which has the key takes. A device takes further names of its own. */
export const portableKeys = [
  ...["UP", "DOWN", "LEFT", "RIGHT", "OK", "BACK", "HOME", "MENU"],
  ...["EXIT", "INFO", "GUIDE", "SEARCH", "SETTINGS", "INPUT", "POWER"],
  ...["PLAY", "PAUSE", "PLAY_PAUSE", "STOP", "RECORD", "REWIND", "FAST_FORWARD", "NEXT", "PREVIOUS"],
  ...["RED", "GREEN", "YELLOW", "BLUE"],
  ...["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
  ...["CHANNEL_UP", "CHANNEL_DOWN", "VOLUME_UP", "VOLUME_DOWN", "MUTE"],
  ...["ENTER", "TAB", "SPACE", "ESCAPE", "BACKSPACE", "DELETE", "END", "PAGE_UP", "PAGE_DOWN"],
] as const;
export type PortableKey = (typeof portableKeys)[number];

/** INVALID_PARAMS for a key that a device does not have, with the nearest of those it has. */
export function noSuchKey(name: string, offered: Iterable<string>, hint = ""): DeviceError {
  const candidates = nearest(name, offered);
  const near = candidates.length > 0 ? ` Nearest: ${candidates.join(", ")}.` : "";
  const isPortable = portableKeys.some((key) => key === name);
  return new DeviceError(
    "INVALID_PARAMS",
    `${isPortable ? `This device has no key ${name}.` : `There is no key "${name.slice(0, 40)}".`}${near}${hint}`,
    { nearest: candidates },
  );
}
