import { DeviceError } from "../../errors.ts";
import { rotationOf, scanScreen } from "../../screens/androidTree.ts";
import type { TreeSource, UiTree } from "../../screens/tree.ts";
import { pause } from "../../waiting/deadlines.ts";
import type { AndroidDevice } from "../device.ts";
import { uiaBusy } from "../driver/owner.ts";
import type { LinkBytes } from "../link.ts";
import { factsOfScreen, screenLines, treeEmpty } from "./screenFacts.ts";

/** `uiautomator dump` itself gives up after 10 s without rest. */
const dumpMs = 30_000;
const mostBytes = 16_000_000;
/** Until a screen without a root is asked again. */
const emptyPausesMs = [200, 500, 1_000];
/** A screen that never came to rest is not asked again for so long, unless something is sent to it. */
const busyMs = 30_000;
const dumpFile = "/data/local/tmp/labwright-dump.xml";
/** By a file, since without a terminal the device has no /dev/tty (AOSP, adb/daemon/shell_service.cpp). */
const dumpLine = `rm -f ${dumpFile}; uiautomator dump ${dumpFile}; cat ${dumpFile}; rm -f ${dumpFile}`;

/**
 * Trees by `uiautomator dump`: a process on the device for each, and the screen has to be at rest. One at a time, since
 * Android has one UiAutomation.
 */
export function createDumpSource(device: AndroidDevice): TreeSource {
  let last: Promise<unknown> = Promise.resolve();
  let busyUntil = 0;
  const readOnce = async (signal: AbortSignal): Promise<UiTree> => {
    if (performance.now() < busyUntil) throw notIdle();
    try {
      return await readTree(device, signal);
    } catch (error) {
      if (error instanceof DeviceError && error.code === "NOT_IDLE") busyUntil = performance.now() + busyMs;
      throw error;
    }
  };
  return {
    read(signal) {
      const mine = last.then(() => readOnce(signal));
      last = mine.catch(() => undefined);
      return mine;
    },
    driven() {
      busyUntil = 0;
    },
  };
}

async function readTree(device: AndroidDevice, signal: AbortSignal): Promise<UiTree> {
  const line = `${dumpLine}; ${screenLines(device.facts().api)}`;
  for (const pauseMs of [...emptyPausesMs, undefined]) {
    signal.throwIfAborted();
    const tree = parse(await device.link().bytes(line, signal, { timeoutMs: dumpMs, mostBytes }));
    if (tree !== undefined) return tree;
    if (pauseMs !== undefined) await pause(pauseMs, signal);
  }
  throw treeEmpty();
}

/** Undefined for a screen without a root, which it may have in the next moment. */
function parse({ stdout, stderr }: LinkBytes): UiTree | undefined {
  const text = stdout.toString("utf8");
  const screen = scanScreen(text);
  if (screen !== undefined) {
    const rest = text.slice(text.lastIndexOf("</hierarchy>"));
    const { roots, quarters, isCut } = screen;
    return { roots, rotation: rotationOf(quarters), isCut, ...factsOfScreen(rest) };
  }
  const said = `${text.slice(0, 2_000)}\n${stderr}`;
  if (/null root node/.test(said)) return undefined;
  if (/could not get idle state/.test(said)) throw notIdle();
  if (/Killed|already registered/.test(said)) throw uiaBusy();
  throw new DeviceError(
    "DEVICE_ERROR",
    `uiautomator dump gave no screen: ${said.trim().slice(0, 300) || "nothing"}. Look at the screen with capture_screenshot.`,
  );
}

const notIdle = () =>
  new DeviceError(
    "NOT_IDLE",
    `Something on the screen always moves, and its elements can be read only at rest. It is not asked again for ${busyMs / 1_000} s unless a command changes it. Use capture_screenshot, text on pictures, and tap.`,
  );
