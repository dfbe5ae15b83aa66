import type { BrowserContext, Page } from "playwright-core";
import type { ControllerContext, DeviceNotice, FreshStart } from "../../contract.ts";
import type { ControllerFacts } from "../../ports.ts";
import { endsWithin, untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import { SharedWork } from "../../waiting/sharedWork.ts";
import { isData } from "../activity/mocks.ts";
import { lostBrowser } from "../page/failures.ts";
import { type PageSignals, watchPage } from "../page/signals.ts";
import { BlankPage } from "./blankPage.ts";
import { contextOptions, type OpenedBrowser, unusable } from "./browser.ts";
import { Clipboard } from "./clipboard.ts";
import type { Dialogs } from "./dialogs.ts";
import type { Downloads } from "./downloads.ts";
import { admit, openGuarded, trafficNote } from "./guardedBrowser.ts";
import { healthOf } from "./health.ts";
import { type ContextSetting, LiveContext, type TabSetting } from "./liveContext.ts";
import { Notices } from "./notices.ts";
import { Servers } from "./servers.ts";
import { type DrivenSession, ElementsMemory, type StorageState } from "./session.ts";
import type { WebSettings } from "./settings.ts";
import { StateKeeper } from "./stateKeeper.ts";
import { readStorageState, writeStorageState } from "./storageState.ts";
import { UrlGuard } from "./urlGuard.ts";

/** How long a browser that was launched may take to its first tab. */
const READY_DEADLINE_MS = 30_000;
/** How long a context that takes the place of a stuck one may take, before the whole browser is given up. */
const REPLACE_DEADLINE_MS = 10_000;
/** A context that takes longer to close is abandoned. */
const END_DEADLINE_MS = 3_000;
/** A trace of ten busy minutes is written in seconds. */
const SAVE_DEADLINE_MS = 30_000;
/** What is kept of a browser was read lately; a last reading may take this long. */
const READ_DEADLINE_MS = 1_000;

type Preparation = (context: BrowserContext) => Promise<void>;

/** A place for one context: a storage state that is loaded puts another context into it. */
type Place = { live: LiveContext };

/**
 * A {@link DrivenSession} with its beginning and end: one browser. The holder's own context lies at the bottom; those of
 * runs that started fresh lie above it, and the topmost is the one that is driven.
 */
export class LiveSession implements DrivenSession {
  readonly memory = new ElementsMemory();
  readonly clipboard = new Clipboard(() => this.#browser?.browser);
  readonly notices = new Notices((context) =>
    this.#places.slice(0, -1).some(({ live }) => live.context === context),
  );
  readonly servers = new Servers();
  readonly blank = new BlankPage(() => this.#browser?.browser);
  readonly guard: UrlGuard;
  readonly #signals = new WeakMap<Page, PageSignals>();
  readonly #preparations: Preparation[] = [];
  readonly #endings: Preparation[] = [];
  readonly #keeper = new StateKeeper((page) => this.signals(page).cdp());
  readonly #opening = new SharedWork<void>();
  #browser: OpenedBrowser | undefined;
  #places: Place[] = [];
  #ended: "closed" | "lost" | undefined;
  #doubted = false;
  #handedOver = false;
  #acting = 0;

  constructor(
    readonly settings: WebSettings,
    readonly context: ControllerContext,
  ) {
    this.guard = new UrlGuard(context, (line) => this.notify("url_denied", line));
  }

  get live(): LiveContext {
    return this.#top().live;
  }

  get dialogs(): Dialogs {
    return this.live.dialogs;
  }

  get downloads(): Downloads {
    return this.live.downloads;
  }

  page(): Page {
    return this.#top().live.page();
  }

  pages(): readonly Page[] {
    return this.#places.at(-1)?.live.pages() ?? [];
  }

  browserContext(): BrowserContext {
    return this.#top().live.context;
  }

  signals(page: Page): PageSignals {
    const signals = this.#signals.get(page) ?? watchPage(page, this.isChromium());
    this.#signals.set(page, signals);
    return signals;
  }

  facts(): ControllerFacts {
    if (!this.#browser) return {};
    const { channel, browser } = this.settings;
    const note = trafficNote(this.guard.proxy);
    return { version: `${channel ?? browser} ${this.#browser.browser.version()}`, ...(note && { note }) };
  }

  isAlive(): boolean {
    return this.#places.at(-1)?.live.isOpen() === true;
  }

  strangeness(): string | undefined {
    return this.#top().live.strangeness();
  }

  /** True while the holder's own context can be driven, also when a run that started fresh has lost its own. */
  isOpen(): boolean {
    return this.#places[0]?.live.isOpen() === true;
  }

  doubt(): void {
    this.#doubted = true;
  }

  handOver(): void {
    this.#handedOver = true;
    this.#doubted = true;
  }

  isDoubted(): boolean {
    return this.#doubted;
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
    this.notices.add(kind, text);
  }

  follow(): () => Promise<void> {
    this.#acting++;
    return async () => {
      this.#acting--;
      this.#keeper.noteChange();
      // A tab that the action opened may be left for another page by the next one.
      await endsWithin(this.#keeper.listening(), READ_DEADLINE_MS);
    };
  }

  async select(page: Page): Promise<void> {
    const { live } = this.#top();
    live.makeCurrent(page);
    live.own(page);
    await page.bringToFront();
  }

  openTab(): Promise<Page> {
    return this.#openTab(this.#top().live);
  }

  async closeTab(page: Page): Promise<void> {
    const { live } = this.#top();
    await page.close();
    if (live.pages().length === 0) await this.#openTab(live);
  }

  forEachTab(key: string, setting: TabSetting): Promise<void> {
    return this.#top().live.forEachTab(key, setting);
  }

  setOnContext(key: string, setting: ContextSetting): Promise<void> {
    return this.#top().live.setOnContext(key, setting);
  }

  async storageState(): Promise<StorageState> {
    const place = this.#top();
    const state = await place.live.context.storageState();
    if (place === this.#places[0]) this.#keeper.keep(state);
    return state;
  }

  async reset(storageState: StorageState | undefined): Promise<void> {
    await this.clipboard.clear();
    await this.#replace(this.#top(), storageState);
  }

  /**
   * Starts fresh: from here on another context of the same browser is driven, until it is left. What looks gave out at the page
   * below is remembered until then.
   */
  async enter(name: string | undefined, signal: AbortSignal): Promise<FreshStart> {
    const state = await this.#savedState(name ?? this.settings.storage_state);
    await this.clipboard.clear();
    const creating = this.#newLive(state);
    try {
      const place = { live: await untilAborted(creating, signal) };
      this.#places.push(place);
      const { refs } = this.memory;
      const { snapshots } = refs;
      refs.snapshots = [];
      return {
        saveState: async (as) =>
          writeStorageState(this.context.storageStatePath(as), await place.live.context.storageState()),
        leave: async () => {
          await this.#leave(place);
          refs.snapshots = snapshots;
        },
      };
    } catch (error) {
      creating.then((late) => this.#end(late)).catch(() => undefined);
      throw error;
    }
  }

  /** Opens the browser unless it is open, and makes anew what does not answer. Any number of callers may ask at once. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#opening.join((own) => this.#makeReady(own), signal);
  }

  /** The next {@link open} brings the cookies and local storage back. */
  async close(): Promise<void> {
    await this.#opening.settled();
    await this.#closeBrowser("closed");
  }

  async #makeReady(signal: AbortSignal): Promise<void> {
    if (this.isOpen() && !this.#doubted) return;
    const holder = this.#places[0];
    const health = holder?.live.isOpen() ? await healthOf(holder.live, signal) : "lost";
    if (!holder || health === "lost") await this.#start(signal);
    else if (health === "frozen") await this.#replaceFrozen(holder, signal);
    else if (this.#handedOver) {
      const { headless, connect, cdp } = this.settings;
      // A browser with a window, and one that others use too, have the clipboard of a person.
      const ownsClipboard = headless && connect === undefined && cdp === undefined;
      const undoing = [holder.live.undoSettings(), this.clipboard.clear(ownsClipboard)];
      await endsWithin(Promise.all(undoing), SAVE_DEADLINE_MS);
    }
    this.#handedOver = false;
    this.#doubted = false;
  }

  /** A page whose script never rests goes with its context; the browser goes too when even that does not work. */
  async #replaceFrozen(holder: Place, signal: AbortSignal): Promise<void> {
    const limit = withDeadline(signal, REPLACE_DEADLINE_MS);
    try {
      await untilAborted(this.#replace(holder, this.#keeper.kept()), limit.signal);
      this.#restarted("the page did not answer any more; its tabs were closed and an empty one opened");
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#start(signal);
    } finally {
      limit.done();
    }
  }

  async #start(signal: AbortSignal): Promise<void> {
    const before = this.#ended ?? (this.#browser === undefined ? undefined : "lost");
    const state =
      before === undefined ? await this.#savedState(this.settings.storage_state) : this.#keeper.kept();
    if (before === "lost") await this.#closeBrowser("lost");
    const opened = await openGuarded(this.settings, this.guard, signal);
    const limit = withDeadline(signal, READY_DEADLINE_MS);
    try {
      await untilAborted(this.#fill(opened, state), limit.signal);
    } catch (error) {
      this.#browser = undefined;
      this.#ended = before;
      await opened.close();
      throw signal.aborted ? signal.reason : unusable(this.settings, error);
    } finally {
      limit.done();
    }
    this.#ended = undefined;
    const how = before === "lost" ? "was lost" : "was closed meanwhile";
    if (before) this.#restarted(`the browser ${how} and has been started again`);
  }

  /** The holder's context is a new one: nothing in it is what the client opened. */
  #restarted(what: string): void {
    this.notify("restarted", what);
    this.#places[0]?.live.disown(what);
  }

  async #fill(opened: OpenedBrowser, state: StorageState | undefined): Promise<void> {
    if (this.#ownsBrowser()) await this.guard.guardBrowser(opened.browser);
    this.#browser = opened;
    const live = await this.#newLive(state);
    // Fresh starts that were lost stay above it until they are left: their runs must not go on in the holder's context.
    this.#places = [{ live }, ...this.#places.slice(1)];
    await this.#keeper.follow(live.context, state);
  }

  async #closeBrowser(ended: "closed" | "lost"): Promise<void> {
    const browser = this.#browser;
    if (browser === undefined) return;
    const places = this.#places;
    if (this.isOpen()) await endsWithin(this.#keeper.read(), READ_DEADLINE_MS);
    this.#keeper.stop();
    this.#browser = undefined;
    this.#ended = ended;
    for (const { live } of places) if (live.isOpen()) await this.#end(live);
    await browser.close();
  }

  /** Puts a new context into the place and ends the one that was there. */
  async #replace(place: Place, state: StorageState | undefined): Promise<void> {
    const former = place.live;
    const fresh = await this.#newLive(state);
    place.live = fresh;
    if (place === this.#places[0]) await this.#keeper.follow(fresh.context, state);
    await this.#end(former);
  }

  async #leave(place: Place): Promise<void> {
    this.#places = this.#places.filter((one) => one !== place);
    await this.clipboard.clear();
    if (place.live.isOpen()) await this.#end(place.live);
  }

  /** Never fails; a context that does not close takes the browser with it when that is looked at next. */
  async #end(live: LiveContext): Promise<void> {
    for (const save of this.#endings) await endsWithin(save(live.context), SAVE_DEADLINE_MS);
    if (!(await endsWithin(live.context.close(), END_DEADLINE_MS))) this.doubt();
  }

  async #savedState(name: string | undefined): Promise<StorageState | undefined> {
    return name === undefined ? undefined : readStorageState(this.context.storageStatePath(name), name);
  }

  #top(): Place {
    const place = this.#places.at(-1);
    if (place?.live.isOpen() !== true) throw lostBrowser();
    return place;
  }

  /** Only then may a guard pause the requests of the whole browser. */
  #ownsBrowser(): boolean {
    return this.isChromium() && this.settings.cdp === undefined;
  }

  /** A new context with one empty tab. */
  async #newLive(storageState: StorageState | undefined): Promise<LiveContext> {
    if (this.#browser === undefined) throw lostBrowser();
    const context = await this.#browser.browser.newContext(contextOptions(this.settings, storageState));
    if (!this.#ownsBrowser()) await this.guard.guardContext(context);
    this.guard.guardConnections(context);
    const live = new LiveContext(context, {
      notify: (kind, text) => this.notices.add(kind, text, context),
      failureOf: (url, text) => this.guard.failureOf(url, text),
      mayMock: (request) => this.context.unsafe.javascript || isData(request),
      opened: (page) => {
        this.signals(page);
        if (this.#acting > 0) live.makeCurrent(page);
      },
      crashed: (page) => {
        this.#closeCrashed(live, page).catch(() => undefined);
      },
    });
    this.servers.listen(context, this.guard, live.mocks.answered);
    for (const prepare of this.#preparations) await prepare(context);
    const page = await this.#openTab(live);
    const cdp = await this.signals(page).cdp();
    if (this.guard.proxy && cdp) await admit(cdp, this.guard.proxy);
    return live;
  }

  async #closeCrashed(live: LiveContext, page: Page): Promise<void> {
    const what = "the tab crashed and was closed; its page must be opened again";
    this.notices.add("page_error", what, live.context);
    if (live.page() === page) {
      live.disown(what);
      if (live.pages().length === 1) await this.#openTab(live);
      live.disown(what);
    }
    await page.close();
  }

  async #openTab(live: LiveContext): Promise<Page> {
    const page = await live.openTab();
    await this.signals(page).cdp();
    await this.#keeper.watch(page);
    return page;
  }
}
