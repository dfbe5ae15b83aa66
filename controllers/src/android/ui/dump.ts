import { DeviceError } from "../../errors.ts";
import { scanScreen } from "../../phones/androidTree.ts";
import type { TreeSource, UiTree } from "../../screens/tree.ts";
import type { AndroidDevice } from "../device.ts";
import { uiaBusy } from "../driver/failures.ts";
import type { AndroidFacts } from "../facts.ts";
import type { LinkBytes } from "../link.ts";
import { screenLines, treeOf, untilRoot } from "./screenFacts.ts";

/** `uiautomator dump` itself gives up after 10 s without rest. */
const dumpMs = 30_000;
const mostBytes = 16_000_000;
/** A screen that never gets idle is not read again for this long, unless an input is sent. */
const busyMs = 30_000;
const dumpFile = "/data/local/tmp/labwright-dump.xml";
/** By a file, since without a terminal the device has no /dev/tty (AOSP, adb/daemon/shell_service.cpp). */
const dumpLine = `rm -f ${dumpFile}; uiautomator dump ${dumpFile}; cat ${dumpFile}; rm -f ${dumpFile}`;

/** Trees by `uiautomator dump`: a process on the device for each, and the screen has to be at rest. */
export function createDumpSource(device: AndroidDevice): TreeSource {
  let busyUntil = 0;
  return {
    async read(signal) {
      if (performance.now() < busyUntil) throw notIdle();
      const facts = device.facts();
      const line = `${dumpLine}; ${screenLines(facts.api)}`;
      const read = async () =>
        parse(await device.link().bytes(line, signal, { timeoutMs: dumpMs, mostBytes }), facts);
      try {
        return await untilRoot(read, Number.POSITIVE_INFINITY, signal);
      } catch (error) {
        if (error instanceof DeviceError && error.code === "NOT_IDLE") busyUntil = performance.now() + busyMs;
        throw error;
      }
    },
    driven() {
      busyUntil = 0;
    },
  };
}

/** Undefined for a screen that has no root yet. */
function parse({ stdout, stderr }: LinkBytes, facts: AndroidFacts): UiTree | undefined {
  const text = stdout.toString("utf8");
  const screen = scanScreen(text);
  if (screen !== undefined) return treeOf(screen, text.slice(text.lastIndexOf("</hierarchy>")), facts);
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
