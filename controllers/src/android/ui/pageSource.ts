import { DeviceError } from "../../errors.ts";
import { rotationOf, scanScreen } from "../../screens/androidTree.ts";
import type { TreeSource, UiTree } from "../../screens/tree.ts";
import { pause } from "../../waiting/deadlines.ts";
import type { AndroidDevice } from "../device.ts";
import type { Driver } from "../driver/driver.ts";
import { restMs } from "../driver/open.ts";
import { DriverRefusal } from "../driver/program.ts";
import type { DriverSession } from "../driver/session.ts";
import { factsOfScreen, screenLines, treeEmpty } from "./screenFacts.ts";

/** Until a screen without a root is asked again. */
const emptyPausesMs = [200, 500, 1_000];
/** The server on the device waits for a root itself, up to 10 s: then it is not asked again. */
const emptyMs = 4_000;
/** A screen that never came to rest is not waited for again for so long, unless something is sent to it. */
const busyMs = 30_000;

/** Trees by the session of the driver: one request, beside one line of the shell for what a tree does not say. */
export function createPageSource(device: AndroidDevice, driver: Driver): TreeSource {
  let last: Promise<unknown> = Promise.resolve();
  const rest = new Rest();
  const readOnce = async (signal: AbortSignal): Promise<UiTree> => {
    const read = async () => {
      const session = await driver.session(device.link(), signal);
      return readTree({ session, rest, line: screenLines(device.facts().api) }, signal);
    };
    try {
      return await read();
    } catch (error) {
      // Looking again does no harm, and the next session shows the same screen.
      if (!(error instanceof DeviceError) || error.code !== "UIA_CRASHED") throw error;
      return await read();
    }
  };
  return {
    read(signal) {
      const mine = last.then(() => readOnce(signal));
      last = mine.catch(() => undefined);
      return mine;
    },
    driven: () => rest.forget(),
  };
}

/** `line` says what no tree says. */
type Look = { session: DriverSession; rest: Rest; line: string };

async function readTree(look: Look, signal: AbortSignal): Promise<UiTree> {
  const began = performance.now();
  for (const pauseMs of [...emptyPausesMs, undefined]) {
    const tree = await readWhole(look, signal);
    if (tree !== undefined) return tree;
    if (performance.now() - began > emptyMs) break;
    if (pauseMs !== undefined) await pause(pauseMs, signal);
  }
  throw treeEmpty();
}

/** Undefined for a screen without a root, which it may have in the next moment. */
async function readWhole({ session, rest, line }: Look, signal: AbortSignal): Promise<UiTree | undefined> {
  try {
    const [{ xml, isBusy }, { stdout }] = await Promise.all([
      rest.source(session, signal),
      session.link.script(line, signal),
    ]);
    const screen = scanScreen(xml);
    if (screen === undefined) return undefined;
    const { roots, quarters, isCut } = screen;
    const rotation = rotationOf(quarters);
    return { roots, rotation, isCut, ...factsOfScreen(stdout), ...(isBusy && { isBusy }) };
  } catch (error) {
    if (!(error instanceof DriverRefusal)) throw error;
    if (/root AccessibilityNodeInfo|root node/i.test(error.said)) return undefined;
    const said = error.said.replace(/\s+/g, " ").slice(0, 300);
    throw new DeviceError(
      "DEVICE_ERROR",
      `UiAutomator2 gave no screen: ${said}. Look at the screen with capture_screenshot.`,
    );
  }
}

/** Whether a screen comes to rest. One that does not is waited for once. */
class Rest {
  #busyUntil = 0;
  /** How long the latest tree took without waiting: a large one takes as long as a busy screen. */
  #readMs = 0;
  /** The session that does not wait for rest now. */
  #hasty: DriverSession | undefined;

  forget(): void {
    this.#busyUntil = 0;
  }

  async source(session: DriverSession, signal: AbortSignal): Promise<{ xml: string; isBusy: boolean }> {
    const isBusy = performance.now() < this.#busyUntil;
    await this.#wait(session, !isBusy, signal);
    const began = performance.now();
    const xml = await sourceOf(session, signal);
    const tookMs = performance.now() - began;
    if (isBusy || tookMs < restMs + this.#readMs) return { xml, isBusy };
    return this.#again(session, tookMs, signal);
  }

  /** Without waiting: a screen that is as slow then is large, and not busy. */
  async #again(session: DriverSession, tookMs: number, signal: AbortSignal) {
    await this.#wait(session, false, signal);
    const began = performance.now();
    const xml = await sourceOf(session, signal);
    this.#readMs = performance.now() - began;
    const isBusy = this.#readMs < tookMs - restMs / 2;
    if (isBusy) this.#busyUntil = performance.now() + busyMs;
    return { xml, isBusy };
  }

  async #wait(session: DriverSession, isPatient: boolean, signal: AbortSignal): Promise<void> {
    if (isPatient === (this.#hasty !== session)) return;
    const settings = { waitForIdleTimeout: isPatient ? restMs : 0 };
    await session.ask("POST", "/appium/settings", { settings }, { signal });
    this.#hasty = isPatient ? undefined : session;
  }
}

async function sourceOf(session: DriverSession, signal: AbortSignal): Promise<string> {
  return String(await session.ask("GET", "/source", {}, { signal }));
}
