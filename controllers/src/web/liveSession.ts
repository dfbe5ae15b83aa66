import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { ControllerContext, DeviceNotice } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { openBrowser, unusable } from "./browser.ts";
import { listenToContext } from "./contextEvents.ts";
import { createDialogs } from "./dialogs.ts";
import { lostBrowser } from "./failures.ts";
import { createNotices } from "./notices.ts";
import type { DrivenSession, StorageState } from "./session.ts";
import type { WebSettings } from "./settings.ts";
import { type PageSignals, watchPage } from "./signals.ts";
import { readStorageState, StateKeeper } from "./storageState.ts";
import { createUrlGuard, guardBrowser, guardConnections, guardContext, type UrlGuard } from "./urlGuard.ts";
import { untilAborted } from "./waiting.ts";

const DENIED_KEPT = 50;

type Preparation = (context: BrowserContext) => Promise<void>;

/** A {@link DrivenSession} with its beginning and end: one browser, one isolated context. */
export class LiveSession implements DrivenSession {
  readonly dialogs = createDialogs((line) => this.notify("dialog", line));
  readonly #notices = createNotices();
  readonly #signals = new WeakMap<Page, PageSignals>();
  readonly #preparations: Preparation[] = [];
  readonly #endings: Preparation[] = [];
  readonly #perTab = new Map<string, (page: Page) => Promise<void>>();
  readonly #keeper = new StateKeeper();
  readonly #guard: UrlGuard;
  #browser: Browser | undefined;
  #browserContext: BrowserContext | undefined;
  #current: Page | undefined;
  #opening: Promise<void> | undefined;
  #wasOpen = false;
  #acting = 0;
  #denials = 0;
  readonly #denied: string[] = [];

  constructor(
    readonly settings: WebSettings,
    readonly context: ControllerContext,
  ) {
    this.#guard = createUrlGuard(context);
  }

  page(): Page {
    const context = this.browserContext();
    if (this.#current === undefined || this.#current.isClosed()) this.#current = context.pages().at(-1);
    if (this.#current !== undefined) return this.#current;
    throw new DeviceError("TAB_NOT_FOUND", "Every tab is closed. Open one with open_tab.");
  }

  pages(): readonly Page[] {
    return this.#browserContext?.pages() ?? [];
  }

  browserContext(): BrowserContext {
    if (this.#browserContext === undefined || !this.isAlive()) throw lostBrowser();
    return this.#browserContext;
  }

  signals(page: Page): PageSignals {
    const known = this.#signals.get(page);
    if (known !== undefined) return known;
    const signals = watchPage(page, this.isChromium());
    this.#signals.set(page, signals);
    return signals;
  }

  version(): string | undefined {
    if (this.#browser === undefined) return undefined;
    return `${this.settings.channel ?? this.settings.browser} ${this.#browser.version()}`;
  }

  isAlive(): boolean {
    return this.#browser?.isConnected() === true && this.#browserContext !== undefined;
  }

  isChromium(): boolean {
    return this.settings.browser === "chromium";
  }

  onNewContext(prepare: Preparation): void {
    this.#preparations.push(prepare);
  }

  onContextEnd(save: Preparation): void {
    this.#endings.push(save);
  }

  notify(kind: DeviceNotice["kind"], text: string): void {
    this.#notices.add(kind, text);
  }

  noticesAfter(seq: number): readonly DeviceNotice[] {
    return this.#notices.after(seq);
  }

  denials(): number {
    return this.#denials;
  }

  wasDenied(url: string): boolean {
    return this.#denied.includes(url);
  }

  async following<T>(action: () => Promise<T>): Promise<T> {
    this.#acting++;
    try {
      return await action();
    } finally {
      this.#acting--;
      if (this.isAlive()) this.#keeper.noteChange(this.browserContext(), () => this.#acting === 0);
    }
  }

  async select(page: Page): Promise<void> {
    this.#current = page;
    await page.bringToFront();
  }

  async openTab(): Promise<Page> {
    const page = await this.browserContext().newPage();
    this.#current = page;
    await this.signals(page).cdp();
    return page;
  }

  async closeTab(page: Page): Promise<void> {
    await page.close();
    if (this.pages().length === 0) await this.openTab();
  }

  async forEachTab(key: string, apply: (page: Page) => Promise<void>): Promise<void> {
    this.#perTab.set(key, apply);
    await Promise.all(this.pages().map(apply));
  }

  async storageState(): Promise<StorageState> {
    const state = await this.browserContext().storageState();
    this.#keeper.keep(state);
    return state;
  }

  async reset(storageState: StorageState | undefined): Promise<void> {
    const former = this.browserContext();
    const browser = this.#browser;
    if (browser === undefined) throw lostBrowser();
    const fresh = await this.#newContext(browser, storageState);
    this.#keeper.keep(storageState);
    this.#perTab.clear();
    this.dialogs.clear();
    this.#browserContext = fresh;
    this.#current = undefined;
    await this.openTab();
    await this.#endContext(former);
  }

  /** Opens the browser unless it is open; the controllers of a device may ask at once. */
  async open(signal: AbortSignal): Promise<void> {
    while (!this.isAlive()) {
      const mine = this.#opening === undefined;
      this.#opening ??= this.#start(signal).finally(() => {
        this.#opening = undefined;
      });
      try {
        await untilAborted(this.#opening, signal);
      } catch (error) {
        // Another caller's cancellation is no reason to fail; the next round is our own.
        if (mine || signal.aborted) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const browser = this.#browser;
    const last = this.#browserContext;
    this.#browser = undefined;
    this.#browserContext = undefined;
    this.#current = undefined;
    this.#wasOpen = false;
    this.#keeper.keep(undefined);
    if (last !== undefined && browser?.isConnected() === true) await this.#endContext(last);
    await browser?.close();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const state = this.#wasOpen ? this.#keeper.kept() : await this.#savedState();
    const browser = await openBrowser(this.settings, signal);
    try {
      if (this.#ownsBrowser()) await guardBrowser(browser, this.#guard, this.#deny);
      const context = await this.#newContext(browser, state);
      this.#browser = browser;
      this.#browserContext = context;
      this.#current = undefined;
      await this.openTab();
    } catch (error) {
      this.#browserContext = undefined;
      await browser.close();
      throw unusable(this.settings, error);
    }
    this.#perTab.clear();
    this.dialogs.clear();
    if (this.#wasOpen) this.notify("restarted", "the browser was lost and has been started again");
    this.#wasOpen = true;
  }

  async #endContext(context: BrowserContext): Promise<void> {
    for (const save of this.#endings) await save(context);
    await context.close();
  }

  async #savedState(): Promise<StorageState | undefined> {
    const name = this.settings.storage_state;
    return name === undefined ? undefined : await readStorageState(this.context.storageStatePath(name), name);
  }

  /** Only then may a guard pause the requests of the whole browser. */
  #ownsBrowser(): boolean {
    return this.isChromium() && this.settings.cdp === undefined;
  }

  async #newContext(browser: Browser, storageState: StorageState | undefined): Promise<BrowserContext> {
    const context = await browser.newContext(contextOptions(this.settings, storageState));
    if (!this.#ownsBrowser()) await guardContext(context, this.#guard, this.#deny);
    guardConnections(context, this.#guard, this.#deny);
    listenToContext(context, {
      dialogs: this.dialogs,
      notify: (kind, text) => this.notify(kind, text),
      opened: (page) => this.#tabOpened(page),
      crashed: (page) => this.#tabCrashed(page),
    });
    for (const prepare of this.#preparations) await prepare(context);
    return context;
  }

  readonly #deny = (url: string, reason: string): void => {
    this.#denials++;
    this.#denied.push(url);
    if (this.#denied.length > DENIED_KEPT) this.#denied.shift();
    this.notify("url_denied", `${url.slice(0, 200)}: ${reason}`);
  };

  #tabOpened(page: Page): void {
    this.signals(page);
    for (const apply of this.#perTab.values()) apply(page).catch(() => undefined);
    if (this.#acting > 0) this.#current = page;
  }

  #tabCrashed(page: Page): void {
    this.notify("page_error", "the tab crashed and was closed; its page must be opened again");
    this.closeTab(page).catch(() => undefined);
  }
}

function contextOptions(
  settings: WebSettings,
  storageState: StorageState | undefined,
): BrowserContextOptions {
  return {
    viewport: settings.viewport,
    ignoreHTTPSErrors: settings.ignore_https_errors,
    ...(settings.locale === undefined ? {} : { locale: settings.locale }),
    ...(settings.timezone === undefined ? {} : { timezoneId: settings.timezone }),
    ...(settings.user_agent === undefined ? {} : { userAgent: settings.user_agent }),
    ...(storageState === undefined ? {} : { storageState }),
  };
}
