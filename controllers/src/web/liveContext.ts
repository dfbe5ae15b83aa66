import type { BrowserContext, Page } from "playwright-core";
import { DeviceError } from "../errors.ts";
import { type AnsweringDialogs, createDialogs } from "./dialogs.ts";
import { lostBrowser } from "./failures.ts";

/** What is set in every tab, those to come too, and how it is undone. */
export type TabSetting = { apply(page: Page): Promise<void>; undo(page: Page): Promise<void> };

/** One browser context with all that it remembers of itself: its tabs, what is set in each, and its dialogs. */
export class LiveContext {
  readonly context: BrowserContext;
  readonly dialogs: AnsweringDialogs;
  readonly #perTab = new Map<string, TabSetting>();
  #current: Page | undefined;
  #open = true;

  constructor(context: BrowserContext, tell: (dialog: string) => void) {
    this.context = context;
    this.dialogs = createDialogs(tell);
    context.once("close", () => {
      this.#open = false;
    });
  }

  /** False after it was closed, by us or by anyone else. */
  isOpen(): boolean {
    return this.#open && this.context.browser()?.isConnected() === true;
  }

  pages(): readonly Page[] {
    return this.#open ? this.context.pages() : [];
  }

  page(): Page {
    if (!this.isOpen()) throw lostBrowser();
    if (this.#current === undefined || this.#current.isClosed()) this.#current = this.pages().at(-1);
    if (this.#current !== undefined) return this.#current;
    throw new DeviceError("TAB_NOT_FOUND", "Every tab is closed. Open one with open_tab.");
  }

  makeCurrent(page: Page): void {
    this.#current = page;
  }

  async openTab(): Promise<Page> {
    const page = await this.context.newPage();
    this.#current = page;
    return page;
  }

  async forEachTab(key: string, setting: TabSetting): Promise<void> {
    this.#perTab.set(key, setting);
    await Promise.all(this.pages().map(setting.apply));
  }

  /** Undoes what {@link forEachTab} set, and drops the answer to the next dialog. A tab that is gone has nothing to undo. */
  async undoSettings(): Promise<void> {
    const settings = [...this.#perTab.values()];
    this.#perTab.clear();
    this.dialogs.clear();
    const undone = this.pages().flatMap((page) => settings.map(({ undo }) => undo(page)));
    await Promise.allSettled(undone);
  }

  /** Sets in a new tab what {@link forEachTab} set in the others. */
  prepareTab(page: Page): void {
    for (const { apply } of this.#perTab.values()) apply(page).catch(() => undefined);
  }
}
