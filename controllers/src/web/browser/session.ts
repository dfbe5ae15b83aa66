import type { BrowserContext, ElementHandle, Frame, Page } from "playwright-core";
import type { ControllerContext, DeviceNotice } from "../../contract.ts";
import { Refs } from "../../elements/refs.ts";
import type { PageSignals } from "../page/signals.ts";
import type { BlankPage } from "./blankPage.ts";
import type { Clipboard } from "./clipboard.ts";
import type { Dialogs } from "./dialogs.ts";
import type { Downloads } from "./downloads.ts";
import type { ContextSetting, LiveContext, TabSetting } from "./liveContext.ts";
import type { Servers } from "./servers.ts";
import type { WebSettings } from "./settings.ts";
import type { UrlGuard } from "./urlGuard.ts";

/**
 * The one browser context of a device, as commands, dumps and checks see it. The context behind it changes when the
 * browser is restarted or a storage state is loaded, so a command must not keep a page or a context over an await.
 * Throws DEVICE_LOST where there is no living browser.
 */
export type WebSession = {
  readonly context: ControllerContext;
  readonly memory: ElementsMemory;
  /** The current tab. Throws TAB_NOT_FOUND when every tab is closed. */
  page(): Page;
  /** Open tabs in the order in which they were opened. */
  pages(): readonly Page[];
  readonly dialogs: Pick<Dialogs, "history" | "arm">;
  readonly downloads: Pick<Downloads, "history">;
  browserContext(): BrowserContext;
  /** Runs on each new context before its first page is opened: init scripts and the like. */
  onNewContext(prepare: (context: BrowserContext) => Promise<void>): void;
  notify(kind: DeviceNotice["kind"], text: string): void;
  isAlive(): boolean;
  readonly blank: BlankPage;
  /** Something failed, often the first sign of a stuck page: the next opening checks whether the page answers. */
  doubt(): void;
  /** Why the current tab does not show what the client opened, such as a restart; undefined where it does. */
  strangeness(): string | undefined;
};

/** What only commands use: tabs, waiting for navigations, and replacing the context. */
export type DrivenSession = WebSession & {
  readonly settings: WebSettings;
  readonly dialogs: Pick<Dialogs, "history" | "arm" | "leaveToPerson">;
  readonly servers: Servers;
  readonly guard: Pick<UrlGuard, "denials" | "explained" | "wasDenied">;
  readonly clipboard: Pick<Clipboard, "used">;
  /** Of the context that is driven now. */
  readonly live: Pick<LiveContext, "traffic" | "mocks">;
  isChromium(): boolean;
  /** What the tab did of itself: navigations under way, windows asked for. */
  signals(page: Page): PageSignals;
  /** Follows new tabs until the returned function is called. */
  follow(): () => Promise<void>;
  select(page: Page): Promise<void>;
  openTab(): Promise<Page>;
  closeTab(page: Page): Promise<void>;
  /** What the context holds now; a restart gets it back. */
  storageState(): Promise<StorageState>;
  /** Replaces the context by a new one with this state in it, or with none. */
  reset(storageState: StorageState | undefined): Promise<void>;
  /** Applies to the tabs there are and to those that come, until the next {@link reset}. */
  forEachTab(key: string, setting: TabSetting): Promise<void>;
  /** Sets something of the whole context, until the next {@link reset} or until another client drives. */
  setOnContext(key: string, setting: ContextSetting): Promise<void>;
  /** Runs on each context before it is closed by us: what it holds can still be saved. Must not throw. */
  onContextEnd(save: (context: BrowserContext) => Promise<void>): void;
};

/** Cookies and local storage as Playwright gives them. */
export type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** What a check needs of a session: it looks, and never acts. */
export type CheckSession = Pick<
  WebSession,
  "context" | "memory" | "page" | "dialogs" | "downloads" | "isAlive" | "blank" | "strangeness" | "doubt"
>;

/** The attribute that names elements for tests: that of the app in use, else the usual one. */
export const testIdAttributeOf = ({ context }: Pick<WebSession, "context">): string =>
  context.app()?.testIdAttribute ?? "data-testid";

/** The refs of a device, shared by looks, commands and checks, and the prefix of each frame's: `f2`, empty for the page itself. */
export class ElementsMemory {
  readonly refs = new Refs();
  #highlighted: { element: ElementHandle; until: number } | undefined;
  readonly #frames = new WeakMap<Frame, number>();
  #numbered = 0;

  /** Pictures for people frame this element for so many milliseconds, in place of an earlier one. */
  highlight(element: ElementHandle, ms: number): void {
    this.#endHighlight();
    this.#highlighted = { element, until: performance.now() + ms };
  }

  /** The element of {@link highlight}, until its time is over. */
  highlighted(): ElementHandle | undefined {
    if (this.#highlighted && this.#highlighted.until <= performance.now()) this.#endHighlight();
    return this.#highlighted?.element;
  }

  #endHighlight(): void {
    this.#highlighted?.element.dispose().catch(() => undefined);
    this.#highlighted = undefined;
  }

  prefix(frame: Frame): string {
    if (!frame.parentFrame()) return "";
    const number = this.#frames.get(frame) ?? ++this.#numbered;
    this.#frames.set(frame, number);
    return `f${number}`;
  }
}
