import { DeviceError } from "../../errors.ts";
import type { UiTree } from "../../screens/tree.ts";
import type { AndroidDevice } from "../device.ts";

const frontLine = "dumpsys window displays | grep -E 'mCurrentFocus=|mFocusedApp='";
const keyboardLine = "dumpsys input_method | grep mInputShown=";

/** Lines for the device's shell that say what no tree says; {@link frontAndKeyboard} reads them. */
export const frontLines = `${frontLine}; ${keyboardLine}`;

export const frontAndKeyboard = (text: string): Pick<UiTree, "front" | "isKeyboardShown"> => ({
  front: frontOf(text),
  isKeyboardShown: /mInputShown=true/.test(text),
});

/** `mFocusedApp=ActivityRecord{… u0 com.example/.Main t12}`; the window that has the focus where no app has. */
export function frontOf(text: string): UiTree["front"] {
  const [, packageName = "", activity = ""] =
    /mFocusedApp=[^\n]*? ([\w.]+)\/([\w.$]+)/.exec(text) ??
    /mCurrentFocus=[^\n]*? ([\w.]+)\/([\w.$]+)/.exec(text) ??
    [];
  return { packageName, activity: activity.startsWith(".") ? `${packageName}${activity}` : activity };
}

/** The activity in front, asked without reading the screen. */
export async function readFront(device: AndroidDevice, signal: AbortSignal): Promise<UiTree["front"]> {
  const { stdout } = await device.link().script(frontLine, signal);
  return frontOf(stdout);
}

export const treeEmpty = (): DeviceError =>
  new DeviceError(
    "TREE_EMPTY",
    "The screen has no elements that Android tells of: it was asked again and again. Wait until the app shows something, or use capture_screenshot.",
  );
