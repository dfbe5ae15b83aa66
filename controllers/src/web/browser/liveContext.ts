import type { BrowserContext, ConsoleMessage, Page, Request, Response } from "playwright-core";
import type { DeviceNotice } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { missingResource } from "../activity/consoleLines.ts";
import { Mocks } from "../activity/mocks.ts";
import { Traffic } from "../activity/traffic.ts";
import { lostBrowser } from "../page/failures.ts";
import { Dialogs } from "./dialogs.ts";
import { Downloads } from "./downloads.ts";

/** What is set in every tab, those to come too, and how it is undone. */
export type TabSetting = { apply(page: Page): Promise<void>; undo(page: Page): Promise<void> };

/** What is set of a whole context, and how it is undone. */
export type ContextSetting = {
  apply(context: BrowserContext): Promise<void>;
  undo(context: BrowserContext): Promise<void>;
};

type Listener = {
  notify(kind: DeviceNotice["kind"], text: string): void;
  /** Why a request really failed, by its address and the browser's error. */
  failureOf(url: string, errorText: string): string;
  /** False for a request whose answer would be code in the page, where that is not allowed. */
  mayMock(request: Request): boolean;
  opened(page: Page): void;
  crashed(page: Page): void;
};

const ANNOUNCED_KEPT = 20;
/** A page that logs more in a second is not listened to any more: each line costs this process 0.05 ms. */
const MOST_LINES = 2_000;

/** One browser context with all that it remembers of itself: its tabs, what is set in it, dialogs, downloads and requests. */
export class LiveContext {
  readonly dialogs: Dialogs;
  readonly downloads: Downloads;
  readonly traffic = new Traffic();
  readonly mocks: Mocks;
  readonly #perTab = new Map<string, TabSetting>();
  readonly #ofContext = new Map<string, ContextSetting>();
  /** Tabs that do not show what the client opened, with the reason. */
  readonly #strange = new WeakMap<Page, string>();
  /** Sizes of downloads that have begun, by their address. */
  readonly #announced = new Map<string, number>();
  #current: Page | undefined;
  #open = true;

  constructor(
    readonly context: BrowserContext,
    listener: Listener,
  ) {
    this.dialogs = new Dialogs((line) => listener.notify("dialog", line));
    this.downloads = new Downloads((line) => listener.notify("download", line));
    this.mocks = new Mocks(context, {
      mayAnswer: (request) => listener.mayMock(request),
      refused: (request) => listener.notify("url_denied", notMocked(request)),
    });
    this.traffic.listen(context, listener.failureOf);
    this.#listen(listener);
  }

  /** Turns what happens in the context into notices, and answers its dialogs. */
  #listen(listener: Listener): void {
    const { context } = this;
    context.once("close", () => {
      this.#open = false;
    });
    context.on("page", (page) => {
      page.on("crash", () => listener.crashed(page));
      // A page that goes away needs no setting.
      for (const { apply } of this.#perTab.values()) apply(page).catch(() => undefined);
      listener.opened(page);
    });
    context.on("dialog", (dialog) => {
      // A dialog may be gone with its page before it is answered.
      this.dialogs.answer(dialog).catch(() => undefined);
    });
    context.on("weberror", (error) => {
      listener.notify("page_error", error.error().message);
      listener.notify("console_error", `Uncaught ${error.error().message}`);
    });
    this.#listenToConsole(listener);
    context.on("response", (response) => {
      this.#noteLength(response);
      const request = response.request();
      if (response.status() >= 400 && isOfApp(request) && !this.mocks.answered.has(request))
        listener.notify("http_error", httpError(request, `answered ${response.status()}`));
    });
    context.on("requestfailed", (request) => {
      const reason = listener.failureOf(request.url(), request.failure()?.errorText ?? "");
      // A page gives up its own requests when it is left, and a test may have switched the network off.
      if (/ABORTED|CANCELLED|DISCONNECTED|OFFLINE|BLOCKED/i.test(reason) || request.isNavigationRequest())
        return;
      if (isOfApp(request) && !this.mocks.answered.has(request))
        listener.notify("http_error", httpError(request, `failed: ${reason}`));
    });
    context.on("download", (download) =>
      this.downloads.receive(download, this.#announced.get(download.url())),
    );
  }

  #listenToConsole({ notify }: Listener): void {
    let [lines, since] = [0, 0];
    const hear = (message: ConsoleMessage) => {
      const now = performance.now();
      if (now - since > 1_000) [lines, since] = [0, now];
      if (++lines > MOST_LINES) {
        this.context.off("console", hear);
        notify("console_error", `Over ${MOST_LINES} lines in a second: later errors are not recorded.`);
      } else if (message.type() === "error" && !this.#isOfMock(message))
        notify("console_error", message.text());
    };
    this.context.on("console", hear);
  }

  #isOfMock(message: ConsoleMessage): boolean {
    const url = missingResource(message);
    const seen = this.traffic.requests.findLast(({ request }) => request.url() === url);
    return seen !== undefined && this.mocks.answered.has(seen.request);
  }

  #noteLength(response: Response): void {
    const headers = response.headers();
    const length = Number(headers["content-length"]);
    if (headers["content-disposition"] === undefined || !Number.isFinite(length)) return;
    if (this.#announced.size >= ANNOUNCED_KEPT) this.#announced.clear();
    this.#announced.set(response.url(), length);
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
    if (this.#strange.has(page)) return this.#strange.get(page);
    return /^(chrome-error|about:neterror)/.test(page.url())
      ? "the tab shows the browser's own error page, since the app's page could not be loaded"
      : undefined;
  }

  async openTab(): Promise<Page> {
    this.#current = await this.context.newPage();
    return this.#current;
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
   * Undoes what {@link forEachTab} and {@link setOnContext} set, ends all mocks, drops the answer to the next dialog and forgets
   * dialogs and downloads. A tab that is gone has nothing to undo.
   */
  async undoSettings(): Promise<void> {
    const perTab = [...this.#perTab.values()];
    const ofContext = [...this.#ofContext.values()];
    this.#perTab.clear();
    this.#ofContext.clear();
    this.dialogs.clear();
    this.downloads.clear();
    await Promise.allSettled([
      this.mocks.remove(undefined),
      ...this.pages().flatMap((page) => perTab.map(({ undo }) => undo(page))),
      ...ofContext.map(({ undo }) => undo(this.context)),
    ]);
  }
}

/** The document of a tab, and what its scripts fetch from its own origin. */
function isOfApp(request: Request): boolean {
  try {
    const frame = request.frame();
    if (request.isNavigationRequest()) return frame === frame.page().mainFrame();
    if (!["fetch", "xhr"].includes(request.resourceType())) return false;
    return new URL(request.url()).origin === new URL(frame.url()).origin;
  } catch {
    // The frame of a tab's first request is not known yet, and a worker's request has none.
    return request.isNavigationRequest();
  }
}

const httpError = (request: Request, what: string): string => `HTTP_ERROR: ${nameOf(request)} ${what}`;

const notMocked = (request: Request): string =>
  `${nameOf(request)} went to the server and not to its mock: the answer would be code in the page, which needs unsafe.javascript: true in the configuration`;

/** Without the query, which may hold anything. */
function nameOf(request: Request): string {
  const kind = request.isNavigationRequest() ? "the page" : request.resourceType();
  return `${request.method()} ${request.url().split(/[?#]/, 1)[0]} (${kind})`;
}
