import type { Browser, CDPSession, Page } from "playwright-core";
import { lostBrowser } from "../page/failures.ts";

/**
 * A page with nothing on it, next to those under test: how long it takes to answer is the browser's and the machine's doing.
 * It is made when it is first asked, in a context of its own; the browser itself answers until then.
 */
export class BlankPage {
  #browser: Browser | undefined;
  /** Only Chromium has a session of the whole browser. */
  #session: CDPSession | undefined;
  #page: Page | undefined;
  #making = false;

  constructor(private readonly browserOf: () => Browser | undefined) {}

  /** Milliseconds until the answer; undefined when there is nothing to ask. Never throws. */
  async timeToAnswer(): Promise<number | undefined> {
    const started = performance.now();
    try {
      await this.#find();
      if (this.#page) await this.#page.evaluate("0");
      else await this.#session?.send("Browser.getVersion");
      return this.#browser && performance.now() - started;
    } catch {
      // The page or the browser went away.
      this.#page = undefined;
      return undefined;
    } finally {
      this.#make().catch(() => undefined);
    }
  }

  /** An error that says a page is gone may be the first sign of a browser that is gone; the browser itself says which. */
  async causeOf(error: unknown): Promise<unknown> {
    const text = error instanceof Error ? error.message : "";
    const isGone = /has been closed|Target closed|crashed|went away/i.test(text);
    return isGone && !(await this.#hasBrowser()) ? lostBrowser() : error;
  }

  async #hasBrowser(): Promise<boolean> {
    try {
      await this.#find();
      await this.#session?.send("Browser.getVersion");
      return this.#browser?.isConnected() === true;
    } catch {
      return false;
    }
  }

  /** Throws where the browser is gone. */
  async #find(): Promise<void> {
    const browser = this.browserOf();
    if (browser === this.#browser) return;
    this.#browser = this.#page = this.#session = undefined;
    const isChromium = browser?.browserType().name() === "chromium";
    this.#session = isChromium ? await browser.newBrowserCDPSession() : undefined;
    this.#browser = browser;
  }

  async #make(): Promise<void> {
    const browser = this.#browser;
    if (this.#page || this.#making || !browser?.isConnected()) return;
    this.#making = true;
    try {
      const page = await (await browser.newContext()).newPage();
      if (browser === this.#browser) this.#page = page;
    } finally {
      this.#making = false;
    }
  }
}
