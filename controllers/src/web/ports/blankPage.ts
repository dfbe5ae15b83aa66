import type { Browser, CDPSession, Page } from "playwright-core";

type Asked = { browser: Browser; session: CDPSession | undefined; page?: Page };

/**
 * A page with nothing on it, beside those under test: how long it takes to answer is the browser's and the machine's doing.
 * It is made when it is first asked, in a context of its own; the browser itself answers until then.
 */
export class BlankPage {
  private asked: Asked | undefined;
  private making: Promise<void> | undefined;

  constructor(private readonly browserOf: () => Browser | null) {}

  /** Milliseconds until the answer; undefined when there is nothing to ask. Never throws. */
  async roundTrip(): Promise<number | undefined> {
    const started = performance.now();
    try {
      const asked = await this.find();
      if (asked?.page) await asked.page.evaluate("0");
      else await asked?.session?.send("Browser.getVersion");
      return asked && performance.now() - started;
    } catch {
      // The page or the browser went away.
      delete this.asked?.page;
      return undefined;
    } finally {
      this.make();
    }
  }

  /** Whether the browser itself still answers. */
  async hasBrowser(): Promise<boolean> {
    try {
      const asked = await this.find();
      await asked?.session?.send("Browser.getVersion");
      return asked?.browser.isConnected() === true;
    } catch {
      return false;
    }
  }

  private async find(): Promise<Asked | undefined> {
    const browser = this.browserOf();
    if (!browser) return undefined;
    if (this.asked?.browser !== browser) this.asked = { browser, session: await sessionOf(browser) };
    return this.asked;
  }

  private make(): void {
    const { asked } = this;
    if (!asked || asked.page || this.making || !asked.browser.isConnected()) return;
    const make = async () => {
      asked.page = await (await asked.browser.newContext()).newPage();
    };
    this.making = make()
      .catch(() => undefined)
      .finally(() => {
        this.making = undefined;
      });
  }
}

/** Only Chromium has a session of the whole browser. Throws where the browser is gone. */
const sessionOf = async (browser: Browser): Promise<CDPSession | undefined> =>
  browser.browserType().name() === "chromium" ? browser.newBrowserCDPSession() : undefined;
