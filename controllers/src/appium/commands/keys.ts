import { unsent } from "../../dispatch.ts";
import { noSuchKey } from "../../elements/keys.ts";
import { DeviceError } from "../../errors.ts";
import { findKeyCode, keyNames } from "../../phones/androidKeys.ts";
import type { Platform } from "../facts.ts";
import type { AppiumParts } from "../session.ts";
import { findActive } from "../ui/source.ts";

/** Buttons of XCUITest's pressButton. */
const buttons: Readonly<Record<Exclude<Platform, "android">, Readonly<Record<string, string>>>> = {
  ios: { HOME: "home", VOLUME_UP: "volumeup", VOLUME_DOWN: "volumedown" },
  tvos: {
    ...{ UP: "up", DOWN: "down", LEFT: "left", RIGHT: "right", OK: "select", BACK: "menu", MENU: "menu" },
    ...{ HOME: "home", PLAY_PAUSE: "playpause" },
  },
};
/** Keys that XCUITest types into the field that has the keyboard. */
const typed: Readonly<Record<string, string>> = { ENTER: "\n", TAB: "\t", SPACE: " ", BACKSPACE: "\b" };

/** Throws INVALID_PARAMS for a key that the device lacks. */
export async function pressKey(
  session: AppiumParts,
  key: string,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const press = pressOf(session, key);
  for (let left = count; left > 0; left--) await session.reader.send(() => press(signal));
}

/** Holds OK of a remote. Android decides how long. */
export async function holdOk(session: AppiumParts, ms: number, signal: AbortSignal): Promise<void> {
  const { device } = session;
  const isOfAndroid = device.facts().platform === "android";
  await session.reader.send(() =>
    isOfAndroid
      ? device.mobile("pressKey", { keycode: findKeyCode("OK"), isLongPress: true }, signal)
      : device.mobile("pressButton", { name: buttons.tvos.OK, durationSeconds: ms / 1_000 }, signal),
  );
}

function pressOf({ device }: AppiumParts, key: string): (signal: AbortSignal) => Promise<unknown> {
  const { platform } = device.facts();
  if (platform === "android") {
    const keycode = findKeyCode(key);
    if (keycode === undefined) throw noSuchKey(key, keyNames);
    return (signal) => device.mobile("pressKey", { keycode }, signal);
  }
  const button = buttons[platform][key];
  if (button !== undefined) return (signal) => device.mobile("pressButton", { name: button }, signal);
  if (key === "BACK") return (signal) => device.call("back", [], signal);
  const text = platform === "ios" ? typed[key] : undefined;
  if (text === undefined)
    throw noSuchKey(key, [...Object.keys(buttons[platform]), "BACK", ...Object.keys(typed)]);
  return async (signal) => {
    const field = await findActive(device, signal);
    if (field === undefined) throw noKeyboard(key);
    await device.call("elementSendKeys", [field, text], signal);
  };
}

const noKeyboard = (key: string) =>
  unsent(
    new DeviceError("ACTION_REJECTED", `No field has the keyboard, which types ${key}. Click a field first.`),
  );
