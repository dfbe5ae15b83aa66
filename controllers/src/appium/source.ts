import { z } from "zod";
import { DeviceError } from "../errors.ts";
import { rotationOf, type ScannedScreen, scanScreen } from "../screens/androidTree.ts";
import { isField } from "../screens/roles.ts";
import { nodesBelow, type TreeSource, type UiNode, type UiTree } from "../screens/tree.ts";
import type { WebPages } from "../webviews/webPages.ts";
import type { AppiumDevice } from "./device.ts";
import { elementIn } from "./elements.ts";
import { scanXcui } from "./xcui.ts";

/** The tree of a heavy screen takes a phone seconds. */
const sourceMs = 120_000;

/** Trees by the page source of WebDriver; on Android with the `pages` of WebViews. */
export function createSource(device: AppiumDevice, pages: WebPages): TreeSource {
  const read = async (signal: AbortSignal) =>
    device.facts().platform === "android"
      ? pages.addTo(await readAndroid(device, signal), signal)
      : readXcui(device, signal);
  return { read, driven: () => undefined };
}

async function sourceOf(device: AppiumDevice, signal: AbortSignal): Promise<string> {
  return z.string().parse(await device.call("getPageSource", [], signal, { timeoutMs: sourceMs }));
}

async function readAndroid(device: AppiumDevice, signal: AbortSignal): Promise<UiTree> {
  const screen = scanScreen(await sourceOf(device, signal));
  if (screen === undefined) throw noTree();
  const { roots, isCut } = screen;
  const nodes = roots.flatMap((root) => [...nodesBelow(root)]);
  // Without a field that has the focus no keyboard is shown, and nothing needs to be asked.
  const isTyping = nodes.some((node) => node.focused && isField(node));
  const isKeyboardShown = isTyping && (await device.call("isKeyboardShown", [], signal)) === true;
  const packageName = roots.find((root) => root.packageName !== "")?.packageName ?? "";
  const rotation = rotationOf(quartersOf(screen, device.facts().screen));
  return { roots, rotation, front: { packageName, activity: "" }, isKeyboardShown, isCut };
}

/**
 * From what the session calls the device's natural position: a session that began while the screen was turned was told the
 * turned size (UiAutomator2, realDisplaySize).
 */
function quartersOf({ quarters, isWide }: ScannedScreen, natural: { width: number; height: number }): number {
  if (isWide === undefined) return quarters;
  const isTurned = isWide !== natural.width > natural.height;
  return isTurned === (quarters % 2 === 1) ? quarters : Number(isTurned);
}

async function readXcui(device: AppiumDevice, signal: AbortSignal): Promise<UiTree> {
  const screen = scanXcui(await sourceOf(device, signal));
  if (screen === undefined) throw noTree();
  const { roots, app, size, isKeyboardShown, isCut } = screen;
  const { screen: natural } = device.facts();
  const isTurned = size.width > size.height !== natural.width > natural.height;
  if (isKeyboardShown) await markFocused(device, roots, signal);
  return {
    roots,
    rotation: isTurned ? 90 : 0,
    front: { packageName: app, activity: "" },
    isKeyboardShown,
    isCut,
  };
}

const rect = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** The source of iOS does not say where the keyboard types: the active element has the place of that field. */
async function markFocused(
  device: AppiumDevice,
  roots: readonly UiNode[],
  signal: AbortSignal,
): Promise<void> {
  const id = await findActive(device, signal);
  if (id === undefined) return;
  const found = rect.safeParse(await device.call("getElementRect", [id], signal));
  if (!found.success) return;
  const { x, y } = found.data;
  const fields = roots.flatMap((root) => [...nodesBelow(root)].filter(isField));
  const own = fields.find(({ bounds }) => Math.abs(bounds.x - x) <= 1 && Math.abs(bounds.y - y) <= 1);
  if (own) own.focused = true;
}

/** The id of the element that has the keyboard; undefined where none has. */
export async function findActive(device: AppiumDevice, signal: AbortSignal): Promise<string | undefined> {
  try {
    return elementIn(await device.call("getActiveElement", [], signal));
  } catch (error) {
    if (error instanceof DeviceError && error.details.wire_error === "no such element") return undefined;
    throw error;
  }
}

const noTree = () =>
  new DeviceError(
    "TREE_EMPTY",
    "The server gave a page source without elements of a screen. Wait until the app shows something, or use capture_screenshot.",
  );
