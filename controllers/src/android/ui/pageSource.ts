import { DeviceError } from "../../errors.ts";
import { scanScreen } from "../../phones/androidTree.ts";
import type { TreeSource, UiTree } from "../../screens/tree.ts";
import type { AndroidDevice } from "../device.ts";
import type { Driver } from "../driver/driver.ts";
import { restMs } from "../driver/open.ts";
import { DriverRefusal } from "../driver/program.ts";
import type { DriverSession } from "../driver/session.ts";
import { screenLines, treeOf, untilRoot } from "./screenFacts.ts";

/** The server on the device waits for a root itself, up to 10 s: then it is not asked again. */
const emptyMs = 4_000;
/** A screen that never gets idle is not waited for again for this long, unless an input is sent. */
const busyMs = 30_000;

/** Trees by the driver's session, read in parallel with a shell line for what no tree contains. */
export function createPageSource(device: AndroidDevice, driver: Driver): TreeSource {
  const rest = new Rest();
  const read = async (signal: AbortSignal) => {
    const session = await driver.session(device.link(), signal);
    return untilRoot(() => readWhole(device, session, rest, signal), emptyMs, signal);
  };
  return {
    read: (signal) =>
      read(signal).catch((error: unknown) => {
        // Looking again does no harm, and the next session shows the same screen.
        if (error instanceof DeviceError && error.code === "UIA_CRASHED") return read(signal);
        throw error;
      }),
    driven: () => rest.forget(),
  };
}

/** Undefined for a screen that has no root yet. */
async function readWhole(
  device: AndroidDevice,
  session: DriverSession,
  rest: Rest,
  signal: AbortSignal,
): Promise<UiTree | undefined> {
  const facts = device.facts();
  try {
    const [{ xml, isBusy }, { stdout }] = await Promise.all([
      rest.source(session, signal),
      session.link.script(screenLines(facts.api), signal),
    ]);
    const screen = scanScreen(xml);
    return screen && { ...treeOf(screen, stdout, facts), isBusy };
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

/** Remembers whether a screen gets idle. One that does not is waited for once. */
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
