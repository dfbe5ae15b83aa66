import type { BrowserContext, CDPSession, Frame, Page } from "playwright-core";
import { z } from "zod";
import { endsWithin } from "../../waiting/deadlines.ts";
import { runApart } from "../page/askAgent.ts";
import type { StorageState } from "./session.ts";

/** A change is often the first of several. */
const SOON_MS = 50;
/** Cookies are read no more often than this, whatever changes. */
const EVERY_MS = 500;
/** A page that is busy is not waited for longer than this. */
const ASK_DEADLINE_MS = 1_000;

type Cookies = StorageState["cookies"];
type Items = Map<string, string>;
type StorageId = { isLocalStorage: boolean; storageKey?: string; securityOrigin?: string };
type Changed = { storageId: StorageId; key: string; newValue: string };

/**
 * Keeps what a restart of the browser gets back: the cookies and local storage of one context. Chromium reports each change of
 * local storage when it happens, so no origin is ever opened or asked again; the cookies of all origins are one question, asked
 * soon after something happened. In other browsers the open documents are asked.
 */
export class StateKeeper {
  #context: BrowserContext | undefined;
  #cookies: Cookies = [];
  #origins = new Map<string, Items>();
  #timer: NodeJS.Timeout | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** The browser reports changes by itself. */
  #hears = false;
  readonly #watched = new Map<Page, Promise<void>>();

  constructor(private readonly devTools: (page: Page) => Promise<CDPSession | undefined>) {}

  kept(): StorageState {
    const origins = [...this.#origins].map(([origin, items]) => ({
      origin,
      localStorage: [...items].map(([name, value]) => ({ name, value })),
    }));
    return { cookies: this.#cookies, origins: origins.filter(({ localStorage }) => localStorage.length > 0) };
  }

  /** From here on a restart gets back what this context holds, which began with `state`. */
  async follow(context: BrowserContext, state: StorageState | undefined): Promise<void> {
    this.stop();
    this.keep(state);
    this.#context = context;
    context.on("page", (page) => void this.watch(page));
    // A response may set cookies whenever it comes.
    context.on("response", () => this.noteChange());
    await Promise.all(context.pages().map((page) => this.watch(page)));
  }

  /** Settles when the tab's changes of local storage are heard; never fails. */
  async watch(page: Page): Promise<void> {
    if (page.context() !== this.#context || page.isClosed()) return;
    let watching = this.#watched.get(page);
    if (!watching) {
      watching = this.#beginWatch(page);
      this.#watched.set(page, watching);
      page.once("close", () => this.#watched.delete(page));
    }
    await watching;
  }

  /** Settles when every open tab is heard. */
  async listening(): Promise<void> {
    await Promise.all(this.#watched.values());
  }

  keep(state: StorageState | undefined): void {
    this.#cookies = state?.cookies ?? [];
    this.#origins = new Map(
      (state?.origins ?? []).map(({ origin, localStorage }) => [
        origin,
        new Map(localStorage.map(({ name, value }) => [name, value])),
      ]),
    );
  }

  noteChange(): void {
    if (this.#timer !== undefined || this.#context === undefined) return;
    const wait = Math.max(SOON_MS, this.#readAt + EVERY_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.read();
    }, wait);
    this.#timer.unref();
  }

  /** Reads the cookies now; what was kept before stands when the context is gone. */
  async read(): Promise<void> {
    const context = this.#context;
    if (context === undefined) return;
    this.#readAt = performance.now();
    const cookies = await context.cookies().catch(() => undefined);
    if (cookies !== undefined && this.#context === context) this.#cookies = cookies;
    if (this.#context === context && !this.#hears)
      await endsWithin(this.#askDocuments(context), ASK_DEADLINE_MS);
  }

  /** Nothing is followed any more; what is kept stays. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#context = undefined;
  }

  async #beginWatch(page: Page): Promise<void> {
    const context = page.context();
    const cdp = await this.devTools(page);
    if (cdp === undefined) return;
    this.#hears = true;
    this.#listen(context, cdp);
    await cdp.send("DOMStorage.enable").catch(() => undefined);
    // What a page stores right before it leads on to another page of its origin may be reported too late.
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) void this.#read(context, cdp, frame);
    });
    // A tab that a page opened may have run scripts before it was heard.
    await this.#read(context, cdp, page.mainFrame());
  }

  #listen(context: BrowserContext, cdp: CDPSession): void {
    const itemsOf = (origin: string) => this.#itemsOf(context, origin);
    const changed = ({ storageId, key, newValue }: Changed) => {
      for (const origin of keptOriginOf(storageId)) itemsOf(origin).set(key, newValue);
    };
    cdp.on("DOMStorage.domStorageItemAdded", changed);
    cdp.on("DOMStorage.domStorageItemUpdated", changed);
    cdp.on("DOMStorage.domStorageItemRemoved", ({ storageId, key }) => {
      for (const origin of keptOriginOf(storageId)) itemsOf(origin).delete(key);
    });
    cdp.on("DOMStorage.domStorageItemsCleared", ({ storageId }) => {
      for (const origin of keptOriginOf(storageId)) itemsOf(origin).clear();
    });
  }

  /** The local storage of the page that there is now, whole. */
  async #read(context: BrowserContext, cdp: CDPSession, frame: Frame): Promise<void> {
    try {
      for (const origin of originOf(frame)) {
        const storageId = { securityOrigin: origin, isLocalStorage: true };
        const { entries } = await cdp.send("DOMStorage.getDOMStorageItems", { storageId });
        const items = this.#itemsOf(context, origin);
        items.clear();
        for (const [name = "", value = ""] of entries) items.set(name, value);
      }
    } catch {
      // The tab or frame went away meanwhile; what was heard of it stands.
    }
  }

  /** What is heard of a context that is not followed any more goes nowhere. */
  #itemsOf(context: BrowserContext, origin: string): Items {
    const known = this.#context === context ? this.#origins.get(origin) : new Map();
    const items = known ?? new Map<string, string>();
    if (this.#context === context) this.#origins.set(origin, items);
    return items;
  }

  async #askDocuments(context: BrowserContext): Promise<void> {
    const frames = context.pages().flatMap((page) => page.frames());
    await Promise.all(
      frames.map(async (frame) => {
        const [origin] = originOf(frame);
        if (origin === undefined) return;
        const entries = await runApart(frame.locator(":root"), itemsSchema, itemsOf, undefined, {
          timeout: ITEMS_MS,
          signal: AbortSignal.timeout(ITEMS_MS),
        }).catch(() => undefined);
        if (entries !== undefined && this.#context === context) this.#origins.set(origin, new Map(entries));
      }),
    );
  }
}

const ITEMS_MS = 2_000;

/** Runs in the page. */
const itemsSchema = z.array(z.tuple([z.string(), z.string()]));
const itemsOf = (): z.input<typeof itemsSchema> => Object.entries(localStorage);

/** Storage that another site's page keeps apart for itself cannot be given back; session storage ends with its tab. */
function keptOriginOf({ isLocalStorage, storageKey, securityOrigin = "" }: StorageId): string[] {
  return isLocalStorage && storageKey?.includes("^") !== true ? [securityOrigin] : [];
}

function originOf(frame: Frame): string[] {
  return /^https?:/.test(frame.url()) ? [new URL(frame.url()).origin] : [];
}
