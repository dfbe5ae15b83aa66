import { DeviceError } from "../../errors.ts";
import type { UiTree } from "../../screens/tree.ts";
import type { AndroidDevice } from "../device.ts";
import { keyboardIn, keyboardLine } from "../keyboard.ts";
import { isDarkIn, powerLine } from "../power.ts";

/** The focus stands among the displays since Android 10, and among the windows before (appium-adb, dumpWindows). */
const firstWithDisplays = 29;
const frontLine = (api: number) =>
  `dumpsys window ${api < firstWithDisplays ? "windows" : "displays"} | grep -E 'Display: mDisplayId=| cur=|mCurrentFocus=|mFocusedApp='`;

/** Lines for the device's shell that say what no tree says; {@link factsOfScreen} reads them. */
export const screenLines = (api: number): string => `${frontLine(api)}; ${keyboardLine}; ${powerLine}`;

export function factsOfScreen(text: string): Pick<UiTree, "front" | "isKeyboardShown" | "isDark" | "size"> {
  const size = sizeIn(ofOwnDisplay(text));
  return {
    front: frontOf(text),
    isKeyboardShown: keyboardIn(text) === true,
    ...(isDarkIn(text) && { isDark: true }),
    ...(size && { size }),
  };
}

/** The part about the display 0: the one that was used last is the last that is listed. */
const ofOwnDisplay = (text: string): string =>
  text.split(/^(?=\s*Display: mDisplayId=)/m).find((part) => /^\s*Display: mDisplayId=0\b/.test(part)) ??
  text;

/** As it is turned and folded now: `init=1080x2400 420dpi cur=2400x1080`. */
function sizeIn(text: string): UiTree["size"] {
  const [, width, height] = / cur=(\d+)x(\d+)/.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** `mFocusedApp=ActivityRecord{… u0 com.example/.Main t12}`; the window that has the focus where no app has. */
export function frontOf(text: string): UiTree["front"] {
  const own = ofOwnDisplay(text);
  const [, packageName = "", activity = ""] =
    /mFocusedApp=[^\n]*? ([\w.]+)\/([\w.$]+)/.exec(own) ??
    /mCurrentFocus=[^\n]*? ([\w.]+)\/([\w.$]+)/.exec(own) ??
    [];
  return { packageName, activity: activity.startsWith(".") ? `${packageName}${activity}` : activity };
}

/** The activity in front, asked without reading the screen; undefined where the device does not say what has the focus. */
export async function readFront(
  device: AndroidDevice,
  signal: AbortSignal,
): Promise<UiTree["front"] | undefined> {
  const { stdout } = await device.link().script(frontLine(device.facts().api), signal);
  return /mCurrentFocus=|mFocusedApp=/.test(stdout) ? frontOf(stdout) : undefined;
}

export const treeEmpty = (): DeviceError =>
  new DeviceError(
    "TREE_EMPTY",
    "Android reported no elements on this screen, even after retries. Wait until the app shows something, or use capture_screenshot.",
  );
