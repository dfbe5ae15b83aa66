import type { ControllerContext } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import type { TreeSource, UiTree } from "../../screens/tree.ts";
import { inTurn } from "../../waiting/deadlines.ts";
import { nativeContext, WebPages } from "../../webviews/webPages.ts";
import type { AndroidDevice } from "../device.ts";
import { Driver } from "../driver/driver.ts";
import { tookOver } from "../driver/failures.ts";
import { openSession } from "../driver/open.ts";
import type { DriverSession } from "../driver/session.ts";
import type { Link } from "../link.ts";
import type { AndroidSettings } from "../settings.ts";
import { createDumpSource } from "./dump.ts";
import { createPageSource } from "./pageSource.ts";
import { createPagePort } from "./webPages.ts";

/** With backend auto, these errors switch the device to dumps. */
const fallbackCodes: ReadonlySet<string> = new Set([
  ...["UIA_UNAVAILABLE", "UIA_CRASHED", "ADDON_MISSING", "ADDON_UNUSABLE", "ADB_MISSING"],
]);
const crashedTwice =
  "UiAutomator2 ended twice on the device while it read the screen. Unplug the device and plug it in to try it again";
const noChromedriver =
  "The setting controllers.android.chromedriver names no chromedriver, so WebViews are read through accessibility.";
const byDumps = "The setting controllers.android.backend says dump. Set it to auto";

/** Reads elements by the UiAutomator2 driver, else by `uiautomator dump`; never both, since Android has one UiAutomation. */
export class UiBackend implements TreeSource {
  /** Adds pages of WebViews to the trees. */
  readonly pages: WebPages;
  readonly whyNoPages: string | undefined;
  readonly #device: AndroidDevice;
  readonly #setting: AndroidSettings["backend"];
  readonly #context: ControllerContext;
  readonly #driver: Driver;
  readonly #pageSource: TreeSource;
  readonly #dumps: TreeSource;
  /** Android has one UiAutomation: one tree is read at a time. */
  readonly #inTurn = inTurn();
  #hasAddon = false;
  /** The driver is not tried again over this connection. */
  #fallback: { link: Link; why: string } | undefined;

  constructor(device: AndroidDevice, { backend, chromedriver }: AndroidSettings, context: ControllerContext) {
    this.#device = device;
    this.#setting = backend;
    this.#context = context;
    this.#driver = new Driver((link, mayTakeOver, signal) =>
      openSession({ link, adbPort: device.adbPort, context, mayTakeOver, chromedriver }, signal),
    );
    const port = createPagePort((signal) => this.session(signal), chromedriver ?? "");
    this.whyNoPages = chromedriver === undefined ? noChromedriver : undefined;
    this.pages = new WebPages(port, {
      usual: chromedriver === undefined ? nativeContext : "auto",
      testId: () => context.app()?.testIdAttribute,
    });
    this.#pageSource = createPageSource(device, this.#driver);
    this.#dumps = createDumpSource(device);
  }

  read(signal: AbortSignal): Promise<UiTree> {
    return this.#inTurn(() => this.#read(signal));
  }

  async #read(signal: AbortSignal): Promise<UiTree> {
    if (this.whyNoSession() !== undefined) return this.#dumps.read(signal);
    let tree: UiTree;
    try {
      tree = await this.#pageSource.read(signal);
    } catch (error) {
      await this.#fallBack(error);
      return this.#dumps.read(signal);
    }
    return this.pages.addTo(tree, signal);
  }

  driven(): void {
    this.#pageSource.driven?.();
    this.#dumps.driven?.();
  }

  /** The session of the driver, which is opened if it must. Throws UIA_UNAVAILABLE where there is none. */
  async session(signal: AbortSignal): Promise<DriverSession> {
    const why = this.whyNoSession();
    if (why !== undefined) throw noSession(why);
    try {
      return await this.#driver.session(this.#device.link(), signal);
    } catch (error) {
      await this.#fallBack(error);
      throw error;
    }
  }

  findSession(): DriverSession | undefined {
    return this.#driver.find();
  }

  /** Why the driver is not used, and how to fix it; undefined if it is used. */
  whyNoSession(): string | undefined {
    if (this.#setting === "dump") return byDumps;
    if (this.#setting === "auto" && this.#device.isAlive() && this.#fallback?.link === this.#device.link())
      return this.#fallback.why;
    if (this.#setting === "auto") return this.#whyNoAddon();
    return undefined;
  }

  /** How elements are read, if not in the usual way. */
  note(): string | undefined {
    const why = this.whyNoSession();
    if (why !== undefined) return `Its elements are read by uiautomator dump: ${why}`;
    return this.#driver.find()?.tookOver ? tookOver : undefined;
  }

  /** Resolves when nothing of a session is left. */
  async close(): Promise<void> {
    await this.#driver.close();
  }

  /** Throws the error where dumps cannot take its place. */
  async #fallBack(error: unknown): Promise<void> {
    const isOver = error instanceof DeviceError && fallbackCodes.has(error.code);
    if (this.#setting !== "auto" || !isOver) throw error;
    await this.#driver.close();
    // A read that a crash of the driver interrupts is retried once.
    const why = error.code === "UIA_CRASHED" ? crashedTwice : error.message;
    this.#fallback = { link: this.#device.link(), why };
  }

  #whyNoAddon(): string | undefined {
    if (this.#hasAddon) return undefined;
    try {
      this.#context.addons.folder("android-driver");
      this.#hasAddon = true;
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

const noSession = (why: string) => new DeviceError("UIA_UNAVAILABLE", why);
