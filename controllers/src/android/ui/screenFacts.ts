import type { Space } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { findKeyCode } from "../../phones/androidKeys.ts";
import { locationOf, rotations, type ScannedScreen } from "../../phones/androidTree.ts";
import { turnedSpace, type UiTree } from "../../screens/tree.ts";
import { pause } from "../../waiting/deadlines.ts";
import type { AndroidDevice } from "../device.ts";
import type { AndroidFacts } from "../facts.ts";

/** The focus is listed with the displays since Android 10, and with the windows before (appium-adb, dumpWindows). */
const firstWithDisplays = 29;
const frontLine = (api: number) =>
  `dumpsys window ${api < firstWithDisplays ? "windows" : "displays"} | grep -E 'Display: mDisplayId=| cur=|mCurrentFocus=|mFocusedApp='`;
const keyboardLine = "dumpsys input_method | grep -E 'mInputShown=|mIsInputViewShown='";
const powerLine = "dumpsys power | grep mWakefulness=";
/** A line for the device's shell that prints the state of its own display; {@link displayIn} reads it. */
export const displayLine = "dumpsys display | grep -E 'mDisplayId=|mOverrideDisplayInfo='";

/** Lines for the device's shell that print what a tree lacks; {@link treeOf} reads them. */
export const screenLines = (api: number): string => `${frontLine(api)}; ${keyboardLine}; ${powerLine}`;

/** Joins the scanned screen with the output of {@link screenLines}. */
export function treeOf(
  { roots, rotation, isCut }: ScannedScreen,
  said: string,
  { screen, isTv }: AndroidFacts,
): UiTree {
  const { packageName, activity } = frontOf(said);
  // As it is turned and folded now: `init=1080x2400 420dpi cur=2400x1080`.
  const [, width, height] = / cur=(\d+)x(\d+)/.exec(ofOwnDisplay(said)) ?? [];
  return {
    roots,
    isCut,
    space:
      width === undefined
        ? turnedSpace(screen, rotation)
        : { width: Number(width), height: Number(height), rotation },
    app: packageName,
    location: locationOf(packageName, activity),
    byKeys: isTv,
    isKeyboardShown: keyboardIn(said) === true,
    isDark: isDarkIn(said),
  };
}

/** The part about the display 0: the one that was used last is the last that is listed. */
const ofOwnDisplay = (text: string): string =>
  text.split(/^(?=\s*Display: mDisplayId=)/m).find((part) => /^\s*Display: mDisplayId=0\b/.test(part)) ??
  text;

export type Front = { packageName: string; activity: string };

/** `mFocusedApp=ActivityRecord{… u0 com.example/.Main t12}`; the window that has the focus where no app has. */
export function frontOf(text: string): Front {
  const own = ofOwnDisplay(text);
  const [, packageName = "", activity = ""] =
    /mFocusedApp=[^\n]*? ([\w.]+)\/([\w.$]+)/.exec(own) ??
    /mCurrentFocus=[^\n]*? ([\w.]+)\/([\w.$]+)/.exec(own) ??
    [];
  return { packageName, activity: activity.startsWith(".") ? `${packageName}${activity}` : activity };
}

/** The activity in front, asked without reading the screen; undefined where the device does not say what has the focus. */
export async function readFront(device: AndroidDevice, signal: AbortSignal): Promise<Front | undefined> {
  const { stdout } = await device.link().script(frontLine(device.facts().api), signal);
  return /mCurrentFocus=|mFocusedApp=/.test(stdout) ? frontOf(stdout) : undefined;
}

/**
 * Whether a keyboard is on the screen; undefined where the device does not say. A device with keys of its own says
 * `mInputShown=true` with nothing on the screen (appium-adb, pull request 56), and a keyboard that was hidden may still say
 * `mIsInputViewShown=true`.
 */
export function keyboardIn(text: string): boolean | undefined {
  const shown = /mInputShown=(true|false)/.exec(text)?.[1];
  return shown === undefined ? undefined : shown === "true" && !text.includes("mIsInputViewShown=false");
}

export async function readKeyboard(device: AndroidDevice, signal: AbortSignal): Promise<boolean | undefined> {
  return keyboardIn((await device.link().script(keyboardLine, signal)).stdout);
}

/** Asleep, or Dozing with a clock on a dark screen; a screen saver (Dreaming) is a picture (PowerManagerInternal). */
const isDarkIn = (text: string): boolean => /mWakefulness=(?:Asleep|Dozing)/.test(text);

/** Switches the screen on and dismisses a lock screen without a code. Does nothing if it is on. */
export async function wake(device: AndroidDevice, signal: AbortSignal): Promise<void> {
  const link = device.link();
  if (!isDarkIn((await link.script(powerLine, signal)).stdout)) return;
  const waking = ["input", "keyevent", `${findKeyCode("WAKEUP")}`];
  await link.runAll([waking, ["wm", "dismiss-keyguard"]], signal);
}

/** As it is turned and folded now. `id` is its number for screencap. */
export type OwnDisplay = Space & { id?: string };

/**
 * The display 0, wherever it is listed: a second screen, a cast and a folded phone's other screen are displays, too.
 *
 *     mDisplayId=0
 *     mOverrideDisplayInfo=DisplayInfo{"Built-in Screen", displayId 0, real 1080 x 2400, …, rotation 1, …, uniqueId "local:461…"}
 */
export function displayIn(text: string): OwnDisplay | undefined {
  const info = /mDisplayId=0\s+mOverrideDisplayInfo=(.*)/.exec(text)?.[1] ?? "";
  const [, width, height] = /\breal (\d+) x (\d+)/.exec(info) ?? [];
  const rotation = rotations[Number(/, rotation ([0-3])\b/.exec(info)?.[1])];
  if (width === undefined || height === undefined || rotation === undefined) return undefined;
  const id = /\buniqueId "local:(\d+)"/.exec(info)?.[1];
  return { width: Number(width), height: Number(height), rotation, ...(id !== undefined && { id }) };
}

export async function readDisplay(
  device: AndroidDevice,
  signal: AbortSignal,
): Promise<OwnDisplay | undefined> {
  return displayIn((await device.link().script(displayLine, signal)).stdout);
}

/** Until a screen without a root is asked again. */
const emptyPausesMs = [200, 500, 1_000];

/** Retries until there is a root, unless one read took longer than `mostMs`. Throws TREE_EMPTY. */
export async function untilRoot(
  read: () => Promise<UiTree | undefined>,
  mostMs: number,
  signal: AbortSignal,
): Promise<UiTree> {
  const began = performance.now();
  for (const pauseMs of [...emptyPausesMs, undefined]) {
    signal.throwIfAborted();
    const tree = await read();
    if (tree !== undefined) return tree;
    if (pauseMs === undefined || performance.now() - began > mostMs) break;
    await pause(pauseMs, signal);
  }
  throw new DeviceError(
    "TREE_EMPTY",
    "Android reported no elements on this screen, even after retries. Wait until the app shows something, or use capture_screenshot.",
  );
}
