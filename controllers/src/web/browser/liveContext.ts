import type { BrowserContext, Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { lostBrowser } from "../page/failures.ts";
import { type AnsweringDialogs, createDialogs } from "./dialogs.ts";
import { createDownloads, type ReceivingDownloads } from "./downloads.ts";

/** What is set in every tab, those to come too, and how it is undone. */
export type TabSetting = { apply(page: Page): Promise<void>; undo(page: Page): Promise<void> };

/** What is set of a whole context, and how it is undone. */
export type ContextSetting = {
  apply(context: BrowserContext): Promise<void>;
  undo(context: BrowserContext): Promise<void>;
};

/** One browser context with all that it remembers of itself: its tabs, what is set in it, dialogs and downloads. */
export class LiveContext {
  readonly context: BrowserContext;
  readonly dialogs: AnsweringDialogs;
  readonly downloads: ReceivingDownloads;
  readonly #perTab = new Map<string, TabSetting>();
  readonly #ofContext = new Map<string, ContextSetting>();
  /** Tabs that do not show what the client opened, with the reason. */
  readonly #strange = new WeakMap<Page, string>();
  #current: Page | undefined;
  #open = true;

  constructor(context: BrowserContext, tell: (kind: "dialog" | "download", line: string) => void) {
    this.context = context;
    this.dialogs = createDialogs((line) => tell("dialog", line));
    this.downloads = createDownloads((line) => tell("download", line));
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

  /** No tab that is open now shows the app until a page is opened in it or the client chooses it. */
  disown(reason: string): void {
    for (const page of this.pages()) {
      this.#strange.set(page, reason);
      page.on("framenavigated", (frame) => {
        if (frame === page.mainFrame()) this.#strange.delete(page);
      });
    }
  }

  own(page: Page): void {
    this.#strange.delete(page);
  }

  /** Why the current tab does not show what the client opened; undefined where it does. */
  strangeness(): string | undefined {
    const page = this.page();
    return this.#strange.get(page) ?? errorPage(page.url());
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

  async setOnContext(key: string, setting: ContextSetting): Promise<void> {
    this.#ofContext.set(key, setting);
    await setting.apply(this.context);
  }

  /**
   * Undoes what {@link forEachTab} and {@link setOnContext} set, drops the answer to the next dialog and forgets dialogs and
   * downloads. A tab that is gone has nothing to undo.
   */
  async undoSettings(): Promise<void> {
    const settings = [...this.#perTab.values()];
    const ofContext = [...this.#ofContext.values()];
    this.#perTab.clear();
    this.#ofContext.clear();
    this.dialogs.clear();
    this.downloads.clear();
    await Promise.allSettled([
      ...this.pages().flatMap((page) => settings.map(({ undo }) => undo(page))),
      ...ofContext.map(({ undo }) => undo(this.context)),
    ]);
  }

  /** Sets in a new tab what {@link forEachTab} set in the others. */
  prepareTab(page: Page): void {
    for (const { apply } of this.#perTab.values()) apply(page).catch(() => undefined);
  }
}

/** The browsers' own pages in place of one that could not be loaded. */
function errorPage(url: string): string | undefined {
  return /^(chrome-error|about:neterror)/.test(url)
    ? "the tab shows the browser's own error page, since the app's page could not be loaded"
    : undefined;
}
