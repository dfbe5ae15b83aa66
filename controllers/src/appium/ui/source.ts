import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import { type ScannedScreen, scanScreen } from "../../phones/androidTree.ts";
import { allNodes, isField, type TreeSource, turnedSpace, type UiTree } from "../../screens/tree.ts";
import type { WebPages } from "../../webviews/webPages.ts";
import type { AppiumDevice } from "../device.ts";
import { answerAs } from "../failures.ts";
import { scanXcui } from "./xcui.ts";

/** The tree of a heavy screen takes a phone seconds. */
const sourceMs = 120_000;

export function createSource(device: AppiumDevice, pages: WebPages): TreeSource {
  const read = async (signal: AbortSignal) =>
    device.facts().platform === "android"
      ? pages.addTo(await readAndroid(device, signal), signal)
      : readXcui(device, signal);
  return { read };
}

async function sourceOf(device: AppiumDevice, signal: AbortSignal): Promise<string> {
  const answer = await device.call("getPageSource", [], signal, { timeoutMs: sourceMs });
  return answerAs(z.string(), "getPageSource", answer);
}

async function readAndroid(device: AppiumDevice, signal: AbortSignal): Promise<UiTree> {
  const screen = scanScreen(await sourceOf(device, signal));
  if (screen === undefined) throw noTree();
  const { roots, isCut } = screen;
  // Without a focused field no keyboard is shown, so the server is not asked.
  const isTyping = allNodes(screen).some((node) => node.focused && isField(node));
  const isKeyboardShown = isTyping && (await device.call("isKeyboardShown", [], signal)) === true;
  const app = roots.find((root) => root.packageName)?.packageName ?? "";
  const { screen: natural, isTv } = device.facts();
  const space = turnedSpace(natural, rotationOf(screen, natural));
  return { roots, space, app, location: app, byKeys: isTv, isKeyboardShown, isCut };
}

/** Relative to the session's natural position: a session that began turned has turned sizes (realDisplaySize). */
function rotationOf({ rotation, isWide }: ScannedScreen, natural: { width: number; height: number }) {
  if (isWide === undefined) return rotation;
  const isTurned = isWide !== natural.width > natural.height;
  if (isTurned === (rotation % 180 !== 0)) return rotation;
  return isTurned ? 90 : 0;
}

async function readXcui(device: AppiumDevice, signal: AbortSignal): Promise<UiTree> {
  const screen = scanXcui(await sourceOf(device, signal));
  if (screen === undefined) throw noTree();
  const { roots, app, size, isKeyboardShown, isCut } = screen;
  const { screen: natural, isTv } = device.facts();
  const isTurned = size.width > size.height !== natural.width > natural.height;
  if (isKeyboardShown) await markFocused(device, screen, signal);
  const space = turnedSpace(natural, isTurned ? 90 : 0);
  return { roots, space, app, location: app, byKeys: isTv, isKeyboardShown, isCut };
}

const rect = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** The source of iOS does not mark the focused field. It is found by the place of the active element. */
async function markFocused(
  device: AppiumDevice,
  screen: Pick<UiTree, "roots">,
  signal: AbortSignal,
): Promise<void> {
  const id = await findActive(device, signal);
  if (id === undefined) return;
  const found = rect.safeParse(await device.call("getElementRect", [id], signal));
  if (!found.success) return;
  const { x, y } = found.data;
  const fields = allNodes(screen).filter(isField);
  const own = fields.find(({ bounds }) => Math.abs(bounds.x - x) <= 1 && Math.abs(bounds.y - y) <= 1);
  if (own) own.focused = true;
}

/** The key of W3C WebDriver, and the older one. */
const element = z.union([
  z.object({ "element-6066-11e4-a52e-4f735466cecf": z.string() }).transform((one) => Object.values(one)[0]),
  z.object({ ELEMENT: z.string() }).transform((one) => one.ELEMENT),
]);

/** The id of the element that has the keyboard; undefined where none has. */
export async function findActive(device: AppiumDevice, signal: AbortSignal): Promise<string | undefined> {
  try {
    return element.safeParse(await device.call("getActiveElement", [], signal)).data;
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
