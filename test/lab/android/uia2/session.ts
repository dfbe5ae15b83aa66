import { randomUUID } from "node:crypto";
import { Elements, WireFailure } from "../../webdriver/wire.ts";
import type { Clock, LabUi } from "../labUi.ts";
import { sourceOf } from "./tree.ts";

const defaultSettings: Readonly<Record<string, unknown>> = {
  actionAcknowledgmentTimeout: 3_000,
  allowInvisibleElements: false,
  currentDisplayId: 0,
  enableMultiWindows: false,
  enableNotificationListener: true,
  ignoreUnimportantViews: false,
  keyInjectionDelay: 0,
  mjpegScalingFactor: 50,
  mjpegServerFramerate: 10,
  mjpegServerScreenshotQuality: 50,
  scrollAcknowledgmentTimeout: 200,
  shouldUseCompactResponses: true,
  snapshotMaxDepth: 70,
  waitForIdleTimeout: 10_000,
  waitForSelectorTimeout: 10_000,
};

/** How long the notification listener remembers a toast. */
const toastMs = 3_500;

/** One session of the server: its settings and the elements that it has returned. */
export class Uia2Session {
  readonly id = randomUUID();
  readonly ui: LabUi;
  readonly clock: Clock;
  settings = defaultSettings;
  readonly elements: Elements;
  #toast: { text: string; until: number } | undefined;
  readonly close: () => void;

  constructor(ui: LabUi, clock: Clock) {
    this.ui = ui;
    this.clock = clock;
    this.elements = new Elements(ui);
    this.close = ui.onEvent((event) => {
      if (event.type === "toast") this.#toast = { text: event.text, until: clock.now() + toastMs };
    });
  }

  update(settings: Readonly<Record<string, unknown>>): void {
    this.settings = { ...this.settings, ...settings };
  }

  numberSetting(name: string): number {
    return Number(this.settings[name] ?? 0);
  }

  /** Waits for rest, which a screen that always moves never gives. */
  async untilIdle(): Promise<void> {
    const ms = this.numberSetting("waitForIdleTimeout");
    if (this.ui.isIdle() || ms <= 0) return;
    await new Promise<void>((resolve) => this.clock.after(ms, resolve));
  }

  source(): string {
    const { ui } = this;
    if (ui.faults.nullRoots > 0) {
      ui.faults.nullRoots -= 1;
      throw new WireFailure(
        "unknown error",
        "Timed out after 10000 milliseconds waiting for root AccessibilityNodeInfo",
      );
    }
    const toast = this.#toast && this.#toast.until > this.clock.now() ? this.#toast.text : undefined;
    return sourceOf(ui, { toast, maxDepth: this.numberSetting("snapshotMaxDepth") });
  }
}
